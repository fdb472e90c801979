#!/usr/bin/env bash
# Runs the kit of a build on the stand-in driver, and without any. Usage: run_on_stand_in.sh BUILD
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../results.sh"
begin_part gpu-kit "$1"
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
check="$repository/tests/gpu_kit/check_results.py"

with_stand_in() {
  LD_LIBRARY_PATH="$build/stand_in" TESSERA_STAND_IN_ROOT="$root" KIT_MAX_BYTES=$((16 << 20)) \
    KIT_RESULTS="$results/stand_in.json" KIT_LOGS="$results/logs" "$build/gpu-kit/run.sh"
}
# Where there is no driver nothing can pass, so this fails, and says why.
without_driver() {
  ! KIT_RESULTS="$results/no_driver.json" "$build/gpu-kit/run.sh" >"$results/no_driver.log"
}
step "the kit on the stand-in" with_stand_in
step "its results" python3 "$check" stand_in "$results/stand_in.json"
if ldconfig -p | grep --quiet 'libcuda\.so\.1'; then
  echo "SKIPPED: the kit without a driver: this machine has one"
  skipped=$((skipped + 1))
else
  step "the kit without a driver" without_driver
  step "its reasons" python3 "$check" no_driver "$results/no_driver.json"
fi
end_part
