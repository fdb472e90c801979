#!/usr/bin/env bash
# Runs the GoogleTest programs of a build. Usage: run_ctest.sh BUILD unit|vectors
# The tests against the golden vectors have `Golden` in their names.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part "$2" "$1"

declare -A filters=([unit]='-*Golden*' [vectors]='*Golden*')
GTEST_FILTER="${filters[$part]}" GTEST_OUTPUT="xml:$results/gtest/" \
  ctest --test-dir "$build" --parallel "$(nproc)" --timeout 600 --output-on-failure --no-tests=error \
  --output-junit "$results/ctest.xml" || echo "FAILED: ctest" >&2
add_reports "$results"
end_part
