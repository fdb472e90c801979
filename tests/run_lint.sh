#!/usr/bin/env bash
# Checks the form of the sources, that each public header compiles alone, and that the copies are copies.
# Usage: run_lint.sh BUILD
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part lint "$1"
cd "$repository" || exit 1

is_formatted() { tests/list_sources.sh | xargs -0 clang-format-19 --dry-run --Werror; }
headers_compile() { cmake --build "$build" --target all_verify_interface_header_sets; }
is_copy() { diff --recursive --brief --exclude=__pycache__ --exclude=.pytest_cache --exclude=.venv "../shared/$1" "$2"; }

step "clang-format" is_formatted
step "headers compile alone" headers_compile
# Where the project's shared folder is at hand, what the repository holds of it must be equal.
if [[ -d ../shared ]]; then
  step "tests/vectors is the shared one" is_copy vectors tests/vectors
  step "tests/conformance is the shared one" is_copy conformance tests/conformance
  step "daemon/PROTOCOL.md is the shared one" is_copy PROTOCOL.md daemon/PROTOCOL.md
fi
step "clang-tidy" tests/run_tidy.py "$build"
end_part
