#!/usr/bin/env bash
# Runs every part of the kit on this machine, each for a limited time, and writes results.json beside this file (or
# where KIT_RESULTS says). Needs a driver, bash and coreutils; the part `python` a Python, too. Usage: run.sh [PART...]
set -uo pipefail
kit="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
results="${KIT_RESULTS:-$kit/results.json}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

if ! "$kit/bin/tessera" --version >"$work/version" 2>&1; then
  echo "the programs of the kit do not start on this machine:" >&2
  cat "$work/version" >&2
  echo "they need $(cat "$kit/needs")" >&2
  exit 1
fi
cat "$work/version"
"$kit/bin/tessera" gpu
"$kit/bin/tessera" gpu --json >"$work/machine.json"

# Runs one part. Usage: part NAME SECONDS COMMAND...
wanted=("$@")
part() {
  local name="$1" limit="$2"
  shift 2
  if [[ ${#wanted[@]} -gt 0 && " ${wanted[*]} " != *" $name "* ]]; then
    return
  fi
  echo "--- $name (at most $limit s)"
  local begin="${EPOCHREALTIME//[.,]/}"
  KIT_ROWS="$work/$name.rows" timeout --kill-after=5 "$limit" "$@" >"$work/$name.log" 2>&1
  local status=$? end="${EPOCHREALTIME//[.,]/}"
  echo "$status $((end - begin)) $limit" >"$work/$name.part"
  echo "$name" >>"$work/order"
}

# Arrays of the libraries that a Python has. The wheel goes with 3.12 and later; KIT_PYTHON names another one than these.
call_libraries() {
  local python found
  if ! compgen -G "$kit/python/tessera-*.whl" >/dev/null; then
    echo "SKIPPED: the kit was built without a wheel"
    return 77
  fi
  for python in ${KIT_PYTHON:-python3 python3.12 python3.13 python3.14}; do
    found="$("$python" -c 'import sys; print(sys.executable if sys.version_info >= (3, 12) else "")' 2>/dev/null)"
    if [[ -n "$found" ]]; then
      exec "$found" "$kit/python/call_libraries.py" "$kit/bin/tessera" "$work/libraries"
    fi
  done
  echo "SKIPPED: there is no Python 3.12 or later here (${KIT_PYTHON:-python3})"
  return 77
}
export -f call_libraries
export kit work

part driver_conformance 60 "$kit/bin/driver_conformance" --gtest_brief=1 \
  --gtest_output="json:$work/driver_conformance.gtest.json"
part transport 40 "$kit/bin/kit_transport"
part served 60 "$kit/bin/kit_served"
part bandwidth 60 "$kit/bin/kit_bandwidth"
part probes 75 "$kit/bin/kit_probes"
part python 110 bash -c call_libraries

"$kit/bin/kit_report" "$work" "$results"
status=$?
if [[ -n "${KIT_LOGS:-}" ]]; then
  mkdir -p "$KIT_LOGS"
  cp "$work"/*.log "$KIT_LOGS"
fi
echo "all of it: $results"
exit $status
