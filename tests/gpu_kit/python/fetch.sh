#!/usr/bin/env bash
# Fetches what the kit's wheel is compiled with: nanobind, from PyPI, and the headers of a Python that knows the stable
# ABI of 3.12, from Debian 13, since Debian 12 has an older one. Nothing is installed. Usage: fetch.sh BUILD
set -euo pipefail
repository="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
mkdir -p "$1/kit-python"
folder="$(cd "$1/kit-python" && pwd)"
python="$repository/.venv/bin/python"

if [[ ! -e "$folder/nanobind/nanobind/src/nb_combined.cpp" ]]; then
  requirement="$("$python" -c 'import sys, tomllib
requires = tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"]
print(next(each for each in requires if each.startswith("nanobind")))' "$repository/sdk/python/pyproject.toml")"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$folder/nanobind" "$requirement"
fi

headers=libpython3.13-dev
if [[ ! -e "$folder/$headers/usr/include/python3.13/Python.h" ]]; then
  apt="$folder/apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" >"$apt/sources.list"
  get() {
    (cd "$apt" && apt-get --quiet=2 -o Acquire::Retries=5 -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$apt/sources.list" \
      -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" "$@")
  }
  get update
  get download "$headers"
  rm -rf "${folder:?}/$headers"
  dpkg --extract "$apt"/"$headers"_*.deb "$folder/$headers"
  rm -rf "$apt"
fi
