"""The wheel in fresh environments, with NumPy and without; its stubs."""

import ast
import inspect
import os
import re
import subprocess
import venv
from pathlib import Path

import pytest
import tessera
from tessera import _native

import python_program

TESTS = Path(__file__).resolve().parent.parent
README = TESTS.parent / "sdk" / "python" / "README.md"


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The one that was built."""
    folder = os.environ.get("TESSERA_WHEELS")
    if folder is None:
        pytest.skip("TESSERA_WHEELS does not name the folder of wheels")
    (found,) = Path(folder).glob("tessera-*.whl")
    return found


def run_module(python: str, *arguments: str, folder: Path = Path("/")) -> subprocess.CompletedProcess:
    """Runs a module of an environment, which sees nothing of the packages that these tests see."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run([python, "-m", *arguments], env=env, cwd=folder, capture_output=True, text=True, timeout=120)


def install(python: str, what: str) -> subprocess.CompletedProcess:
    return run_module(python, "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", what)


def environment(folder: Path, wheel: Path) -> str:
    """Makes an environment with the wheel; gives its interpreter."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    answer = install(python, str(wheel))
    assert answer.returncode == 0, answer.stderr
    return python


@pytest.fixture(scope="module")
def bare(tmp_path_factory, wheel) -> str:
    """The interpreter of an environment that has the package and nothing else."""
    return environment(tmp_path_factory.mktemp("bare"), wheel)


@pytest.fixture(scope="module")
def usual(tmp_path_factory, wheel) -> str:
    """The interpreter of an environment that has NumPy, too: the one of these tests, which is seen through a link."""
    import numpy

    folder = tmp_path_factory.mktemp("usual")
    python = environment(folder, wheel)
    (packages,) = folder.glob("lib/python*/site-packages")
    for path in Path(numpy.__file__).parents[1].glob("numpy*"):
        (packages / path.name).symlink_to(path)
    return python


def run(text: str, *arguments: str, python: str) -> str:
    """Runs a program with what is installed alone."""
    return python_program.run(text, *arguments, python=python, PYTHONPATH="", PYTHONNOUSERSITE="1")


def test_the_wheel_needs_nothing(bare):
    """Neither NumPy nor the folder that it was built in."""
    program = """
        import sys, tessera, tessera._native
        print(tessera.__version__, "numpy" in sys.modules)
        print(tessera._native.__file__)
    """
    version, place = run(program, python=bare).splitlines()
    assert version == f"{tessera.__version__} False"
    assert Path(place).is_relative_to(Path(bare).parents[1])
    linked = subprocess.run(["ldd", place], capture_output=True, text=True, check=True).stdout
    assert "not found" not in linked and str(TESTS.parent) not in linked
    assert "libtessera" not in linked and "libcuda" not in linked


def test_the_readme_without_numpy(bare, served):
    """Arrays of results are memoryviews."""
    program = """
        import sys
        from tessera import Tesseract
        tess = Tesseract.from_url(sys.argv[1])
        result = tess.apply({"a": [1.0], "b": [2.0]})["result"]
        print(type(result).__name__, result.tolist(), result.shape, result.format, result.readonly)
    """
    assert run(program, served.url("vectoradd"), python=bare) == "memoryview [3.0] (1,) d False"


def test_arrays_without_numpy(bare, served):
    """What has a buffer in C order is taken, and what comes back has axes and can be written to."""
    program = """
        import array, sys
        from tessera import Tesseract
        tess = Tesseract.from_url(sys.argv[1]).with_encoding(output_format="json+base64")
        def back(values):
            return tess.apply({"any_array": values})["any_array"]
        print(back(array.array("i", [1, 2, 3])).tolist())
        grid = back(memoryview(bytes(range(6))).cast("B", (2, 3)))
        print(grid.tolist(), grid.shape)
        grid[0, 0] = 9
        print(back(grid).tolist())
        print(back(memoryview(array.array("d"))).nbytes)
        print(tess.apply({"c64": [1.0, 2.0]})["c64"].format)
        print(tess.apply({"scalar_f64": 2.5})["scalar_f64"].tolist())
        class OnlyArray:
            def __array__(self, dtype=None, copy=None):
                raise AssertionError
        for wrong in (memoryview(b"abcd")[::2], memoryview(b"abcd").cast("c"), OnlyArray()):
            try:
                back(wrong)
                print("taken")
            except TypeError as error:
                print(error)
    """
    lines = run(program, served.url("everything"), python=bare).splitlines()
    assert lines[:6] == ["[1, 2, 3]", "[[0, 1, 2], [3, 4, 5]] (2, 3)", "[[9, 1, 2], [3, 4, 5]]", "0", "Zf", "2.5"]
    assert len(lines) == 9
    assert all(
        re.match(r"any_array: an object of type '\w+' cannot be sent: .*NumPy is not installed", line)
        for line in lines[6:]
    )


def test_the_readme(usual, served):
    """Its first example, line by line."""
    (code,) = re.findall(r"```python\n(.*?)\nlocal", README.read_text(), re.DOTALL)
    code = code.strip().replace("http://127.0.0.1:8000", served.address)
    *lines, last = code.splitlines()
    program = "\n".join([*lines, f"print(repr({last.split('  #')[0]}))"])
    assert run(program, python=usual) == "array([3.])"


def test_a_fresh_environment_ends_without_a_word(usual, served):
    """Nothing is said of objects that a program holds at its end."""
    program = """
        import sys
        from tessera import Tesseract
        kept = Tesseract.from_url(sys.argv[1])
        results = [kept.apply({"a": [1.0], "b": [2.0]}) for _ in range(3)]
        cycle = [kept, results]
        cycle.append(cycle)
    """
    assert run(program, served.url("vectoradd"), python=usual) == ""


def test_the_wheel_holds_the_package_alone(wheel):
    """Modules, stubs and the mark that there are types."""
    import zipfile

    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    shared = {name for name in names if name.endswith(".so")}
    assert len(shared) == 1
    assert names - shared == {
        f"tessera/{name}" for name in ("__init__.py", "_native.pyi", "errors.py", "py.typed", "tesseract.py")
    }


def stub() -> ast.Module:
    return ast.parse((Path(tessera.__file__).parent / "_native.pyi").read_text())


def members(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}


def test_the_stubs_name_what_the_module_has():
    """Each class and member, no more and no less."""
    classes = {node.name: set(members(node)) for node in stub().body if isinstance(node, ast.ClassDef)}
    found = {}
    for name, kind in vars(_native).items():
        if inspect.isclass(kind):
            own = {member for member in vars(kind) if not member.startswith("_")}
            found[name] = own | ({member for member in vars(kind) if re.match("__(cuda|dlpack)", member)})
    # A buffer, which nobody has to do with by name.
    assert found.pop("Memory") == set()
    assert classes == found


def test_the_stubs_have_the_parameters_of_the_module():
    """By name, as nanobind shows them."""
    for node in stub().body:
        if not isinstance(node, ast.ClassDef):
            continue
        for name, function in members(node).items():
            if any(isinstance(mark, ast.Name) and mark.id == "property" for mark in function.decorator_list):
                continue
            shown = getattr(_native, node.name).__dict__[name]
            text = getattr(shown, "__func__", shown).__doc__ or ""
            parameters = re.match(rf"{name}\((.*)\) ->", text.splitlines()[0] if text else "")
            assert parameters, f"{name}: {text}"
            names = re.findall(r"(?:^|, )(\w+)", re.sub(r"\[[^]]*\]", "", parameters[1]))
            stated = [argument.arg for argument in function.args.args + function.args.kwonlyargs]
            assert names == stated, f"{node.name}.{name}"


TYPED = """
from typing import Any

from tessera import DeviceArray, RequestedEncoding, ServerCapabilities, Tesseract, ValidationError


def run(url: str) -> Any:
    with Tesseract.from_url(url, timeout=(1.0, None), progress=lambda done, total: print(done, total)) as tess:
        capabilities: ServerCapabilities = tess.server_capabilities
        encoding: RequestedEncoding = tess.with_encoding(compression="lz4").current_encoding
        names: list[str] = tess.available_endpoints
        transport: str = tess.resolve_gpu_transport()
        try:
            result = tess.apply({"a": [1.0], "b": [2.0]}, run_id="run")["result"]
        except ValidationError as error:
            print(error.title, [item["loc"] for item in error.errors()])
            raise
        if isinstance(result, DeviceArray):
            shape: tuple[int, ...] = result.shape
            print(shape, result.copy_to_host().sum())
        print(capabilities.output_formats, encoding.compression, names, transport)
        return tess.jacobian({"a": [1.0]}, jac_inputs=["a"], jac_outputs=["result"])
"""


def test_a_type_checker_is_content(usual, tmp_path):
    """mypy, as strict as it gets, with the package and with a program that uses it."""
    if install(usual, "mypy").returncode != 0:
        pytest.skip("mypy cannot be installed")
    (tmp_path / "program.py").write_text(TYPED)
    for what in (["program.py"], ["-p", "tessera"]):
        found = run_module(usual, "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *what, folder=tmp_path)
        assert found.returncode == 0, found.stdout + found.stderr
