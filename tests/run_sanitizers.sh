#!/usr/bin/env bash
# Builds and runs the unit tests under ASan and UBSan, and those of label `concurrency` under TSan; the tests of GPU arrays
# between processes with a daemon under ASan and UBSan; and those of load and faults with a daemon under either.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
cd "$repository" || exit 1
mkdir -p build
begin_part sanitizers build

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

run() {
  local preset="$1" report="$results/$1"
  mkdir -p "$report"
  GTEST_OUTPUT="xml:$report/gtest/" ctest --timeout 900 --preset "$preset" --parallel "$(nproc)" "${ctest_options[@]}" \
    --output-junit "$report/ctest.xml" || echo "FAILED: ctest under $preset" >&2
  add_reports "$report"
}

build_asan() {
  cmake --preset asan-ubsan --log-level=WARNING && cmake --build --preset asan-ubsan
}
step "build with ASan and UBSan" build_asan
ctest_options=()
run asan-ubsan

# Without those that count or kill. The driver is that of the plain build, as Python loads it, too.
gpu_tests() {
  mkdir -p "$results/gpu"
  cd tests/gpu || return
  PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="$build/stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$repository/.venv/bin/python" -m pytest -q --tb=short -rfE --junitxml="$results/gpu/pytest.xml" \
    --build "$build/asan-ubsan" test_leases.py test_limits.py test_malformed_descriptors.py test_failure_modes.py \
    test_waiting.py || echo "FAILED: pytest under asan-ubsan" >&2
  add_reports "$results/gpu"
  cd "$repository" || return
}
gpu_tests

# Without those that count, time or limit memory. Usage: torture_tests PRESET TESTS...
torture_tests() {
  local preset="$1" report="$results/torture-$1"
  shift
  mkdir -p "$report"
  cd tests/torture || return
  PYTHONDONTWRITEBYTECODE=1 "$repository/.venv/bin/python" -m pytest -q --tb=short -rfE \
    --junitxml="$report/pytest.xml" --build "$build/$preset" -m "not plain" "$@" ||
    echo "FAILED: torture under $preset" >&2
  add_reports "$report"
  cd "$repository" || return
}
torture_tests asan-ubsan .

build_tsan() {
  cmake --preset tsan --log-level=WARNING || return
  # A test of ctest has the name of its program.
  local names
  names="$(ctest --preset tsan --label-regex concurrency --show-only=json-v1 |
    python3 -c 'import json, sys; print(*[test["name"] for test in json.load(sys.stdin)["tests"]])')" || return
  # shellcheck disable=SC2086
  cmake --build --preset tsan --target tessera_program tessera_trouble $names
}
step "build with TSan" build_tsan
ctest_options=(--label-regex concurrency)
run tsan
# Those in which threads meet each other.
torture_tests tsan test_overload.py test_kills.py test_modules.py
end_part
