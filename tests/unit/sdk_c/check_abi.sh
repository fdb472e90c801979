#!/usr/bin/env bash
# Compares the C ABI with its record, abi.txt: the exported symbols, the declarations, sizes and places in structs.
# Usage: check_abi.sh COMPILER LIBRARY REPORT_PROGRAM [--renew]
# With --renew it writes the record instead. What programs rely on changes then: if anything but additions is in the
# difference, they must be compiled again, and SOVERSION in sdk/CMakeLists.txt is due.
set -euo pipefail
folder="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
include="$folder/../../../sdk/include"
compiler="$1" library="$2" report="$3"

# Name and symbol type; one that is not ours is one too many.
exported() { nm -D --defined-only "$library" | awk '{ print $NF, $(NF - 1) }' | LC_ALL=C sort; }

# One line for each declaration of the header, without comments, in the spacing of every compiler.
declared() {
  "$compiler" -x c -std=c99 -E -I "$include" "$include/tessera/tessera.h" |
    awk '/^# [0-9]+ / { ours = $3 ~ /tessera\/tessera\.h"$/; next } ours' |
    tr -s ' \n' '  ' | sed 's/__attribute__((visibility("default"))) //g; s/( /(/g; s/ \*/*/g; s/; */;\n/g' |
    # A struct or enum goes on until its braces are closed.
    awk '{ line = line (line == "" ? "" : " ") $0; open += gsub(/\{/, "{") - gsub(/\}/, "}") }
         open == 0 { sub(/^ /, "", line); print line; line = "" }'
}

record() {
  echo "# exported"
  exported
  echo "# declared"
  declared
  echo "# laid out"
  "$report"
}

if strangers="$(exported | grep -v '^tessera_[a-z_]* T$')"; then
  printf 'exported, but not as a function tessera_…:\n%s\n' "$strangers" >&2
  exit 1
fi
if ! difference="$(diff <(declared | grep -o '\btessera_[a-z_]*(' | tr -d '(' | LC_ALL=C sort) \
    <(exported | cut -d ' ' -f 1))"; then
  printf 'declared (<) is not what is exported (>):\n%s\n' "$difference" >&2
  exit 1
fi
if [[ "${4:-}" == --renew ]]; then
  record >"$folder/abi.txt"
elif ! record | diff "$folder/abi.txt" - >&2; then
  echo "the C ABI is not that of abi.txt; if it shall be, renew the record: cmake --build BUILD --target renew_c_abi" >&2
  exit 1
fi
