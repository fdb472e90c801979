#!/usr/bin/env bash
# Runs the tests of the client in C++ against running servers: tessera and the Python runtime, on this machine as it is
# and with the stand-in driver in front. Usage: run_sdk_servers.sh BUILD [GTEST_OPTION...]
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part sdk-servers "$1"
shift

forget_settings
program="$(printf '%q' "$build/bin/tessera")"
options=("$@")
run() {
  local name="$1" libraries="$2"
  shift 2
  mkdir -p "$results/$name"
  PYTHONDONTWRITEBYTECODE=1 LD_LIBRARY_PATH="$libraries" "$repository/.venv/bin/python" \
    "$repository/tests/sdk_servers/run_on_servers.py" "$@" "$build/bin/tessera_sdk_server_tests" --gtest_brief=1 \
    --gtest_output="xml:$results/$name/gtest.xml" "${options[@]}" || echo "FAILED: sdk-servers, $name"
}
stand_in="$build/stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
tessera=(--serve "$program serve {name} --host {host} --port {port}")
names=(tessera_as_it_is tessera_stand_in runtime_as_it_is runtime_stand_in)
{
  run tessera_as_it_is "${LD_LIBRARY_PATH:-}" "${tessera[@]}" >"$results/tessera_as_it_is.log" 2>&1
  run tessera_stand_in "$stand_in" "${tessera[@]}" >"$results/tessera_stand_in.log" 2>&1
} &
{
  run runtime_as_it_is "${LD_LIBRARY_PATH:-}" --reference >"$results/runtime_as_it_is.log" 2>&1
  run runtime_stand_in "$stand_in" --reference >"$results/runtime_stand_in.log" 2>&1
} &
wait
for name in "${names[@]}"; do
  echo "--- $name"
  cat "$results/$name.log"
done
add_reports "${names[@]/#/$results/}"
end_part
