"""Packs the Python package with a module that was compiled for the stable ABI of Python 3.12.

Usage: make_wheel.py PACKAGE_SOURCE MODULE FOLDER
"""

import base64
import hashlib
import sys
import tomllib
import zipfile
from pathlib import Path

TAG = "cp312-abi3-linux_x86_64"


def record_line(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main() -> None:
    source, module, folder = map(Path, sys.argv[1:])
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    files = {f"{name}/{path.name}": path.read_bytes() for path in sorted((source / name).iterdir()) if path.is_file()}
    files[f"{name}/{module.name}"] = module.read_bytes()
    info = f"{name}-{version}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {project['description']}\n"
        f"License: {project['license']}\nRequires-Python: >=3.12\n"
    )
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
    record = "".join(record_line(*each) for each in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    with zipfile.ZipFile(folder / f"{name}-{version}-{TAG}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)


main()
