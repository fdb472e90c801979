#!/usr/bin/env bash
# Runs the kit of a build on the stand-in driver, and without any. Usage: run_on_stand_in.sh BUILD
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../results.sh"
begin_part gpu-kit "$1"
root="$(mktemp -d)"
work="$(mktemp -d)"  # of sockets, whose paths may not be long
trap 'rm -rf "$root" "$work"' EXIT
check="$repository/tests/gpu_kit/check_results.py"

with_stand_in() {
  LD_LIBRARY_PATH="$build/stand_in" TESSERA_STAND_IN_ROOT="$root" KIT_MAX_BYTES=$((16 << 20)) \
    KIT_RESULTS="$results/stand_in.json" KIT_LOGS="$results/logs" "$build/gpu-kit/run.sh"
}
# Where there is no driver nothing can pass, so this fails, and says why.
without_driver() {
  ! KIT_RESULTS="$results/no_driver.json" "$build/gpu-kit/run.sh" >"$results/no_driver.log"
}
# The rows of the libraries, by the package as `make wheel` builds it for the Python that is here.
with_stand_in_libraries() {
  local site="$results/site" folder="$repository/tests/gpu_kit/python"
  "$repository/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$site" \
    "$build"/wheels/tessera-*.whl &&
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$folder/stand_in_libraries" LD_LIBRARY_PATH="$build/stand_in" \
      TESSERA_STAND_IN_ROOT="$root" KIT_MAX_BYTES=$((64 << 10)) KIT_ROWS="$results/libraries.rows" \
      "$repository/.venv/bin/python" "$build/gpu-kit/python/call_libraries.py" "$build/gpu-kit/bin/tessera" \
      "$work" "$site" &&
    python3 "$check" libraries "$results/libraries.rows"
}
step "the kit on the stand-in" with_stand_in
step "the kit with libraries that stand in for others" with_stand_in_libraries
step "its results" python3 "$check" stand_in "$results/stand_in.json"
if ldconfig -p | grep --quiet 'libcuda\.so\.1'; then
  echo "SKIPPED: the kit without a driver: this machine has one"
  skipped=$((skipped + 1))
else
  step "the kit without a driver" without_driver
  step "its reasons" python3 "$check" no_driver "$results/no_driver.json"
fi
end_part
