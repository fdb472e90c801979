#!/usr/bin/env bash
# Prints our C++ and C sources and headers, each ended by a NUL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find . \( -path ./build -o -path ./.venv -o -path ./.git -o -path ./tests/vectors -o -path ./tests/conformance \) -prune \
  -o -type f \( -name '*.cpp' -o -name '*.c' -o -name '*.h' \) -print0 | sort -z
