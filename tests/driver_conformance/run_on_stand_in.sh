#!/usr/bin/env bash
# Runs the suite on the stand-in driver, on a machine of its own. Usage: run_on_stand_in.sh SUITE FOLDER [NAME=VALUE…]
set -euo pipefail
suite="$1" folder="$2"
shift 2
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
status=0
env "LD_LIBRARY_PATH=$folder" "TESSERA_STAND_IN_ROOT=$root" "$@" "$suite" --gtest_brief=1 || status=$?
# What would be a reason to skip elsewhere is a failure here.
exit $((status == 77 ? 1 : status))
