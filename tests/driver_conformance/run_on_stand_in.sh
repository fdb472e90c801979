#!/usr/bin/env bash
# Runs the suite on the stand-in driver, on a machine of its own. Usage: run_on_stand_in.sh SUITE FOLDER [NAME=VALUE…]
set -euo pipefail
suite="$1" folder="$2"
shift 2
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT
# Several tests run one program; each has a report of its own.
if [[ "${GTEST_OUTPUT:-}" == xml:*/ && -n "${TESSERA_REPORT_NAME:-}" ]]; then
  export GTEST_OUTPUT="$GTEST_OUTPUT$TESSERA_REPORT_NAME.xml"
fi
status=0
env "LD_LIBRARY_PATH=$folder" "TESSERA_STAND_IN_ROOT=$root" "$@" "$suite" --gtest_brief=1 || status=$?
# What would be a reason to skip elsewhere is a failure here.
exit $((status == 77 ? 1 : status))
