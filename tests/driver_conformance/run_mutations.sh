#!/usr/bin/env bash
# Breaks one rule of the stand-in after the other, and fails unless the suite notices each. Usage: run_mutations.sh SUITE FOLDER
set -uo pipefail
suite="$1" folder="$2"
# A run that selects other tests by name does not mean this one; what fails here on purpose is in no report.
if [[ -n "${GTEST_FILTER:-}" && "$GTEST_FILTER" != -* ]]; then
  echo "left out by GTEST_FILTER"
  exit 0
fi
unset GTEST_FILTER GTEST_OUTPUT
run() { "$(dirname "${BASH_SOURCE[0]}")/run_on_stand_in.sh" "$suite" "$folder" "$@"; }

# Late work, so that a missing wait shows; it must not be what fails.
late=TESSERA_STAND_IN_DELAY_US=3000
run "$late" GTEST_FAIL_FAST=1 >/dev/null || { echo "the suite fails though no rule is broken" >&2; exit 1; }

mapfile -t names < <(LD_LIBRARY_PATH="$folder" "$suite" --mutations)
unnoticed=()
for name in "${names[@]}"; do
  if run "$late" GTEST_FAIL_FAST=1 "TESSERA_STAND_IN_BREAK=$name" >/dev/null 2>&1; then
    unnoticed+=("$name")
  fi
done
if ((${#names[@]} < 25 || ${#unnoticed[@]} > 0)); then
  echo "of ${#names[@]} broken rules these were not noticed: ${unnoticed[*]}" >&2
  exit 1
fi
echo "${#names[@]} broken rules were noticed"
