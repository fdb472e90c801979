#!/usr/bin/env bash
# Runs the whole conformance suite against the programs of a build: once on this machine as it is, once with the
# stand-in driver in front. Usage: run_conformance.sh BUILD [PYTEST_OPTION...]
# Left out is what conformance_exceptions.txt lists.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part conformance "$1"
shift

left_out=()
while IFS= read -r node; do
  left_out+=(--deselect="$node")
done < <(grep --extended-regexp --invert-match '^\s*(#|$)' "$repository/tests/conformance_exceptions.txt")

# The suite is a copy that stays as it is: no byte code beside it.
forget_settings
program="$(printf '%q' "$build/bin/tessera")"
cd "$repository/tests/conformance" || exit 1
run() {
  local name="$1" libraries="$2"
  shift 2
  PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu PATH="$build/bin:$PATH" LD_LIBRARY_PATH="$libraries" \
    "$repository/.venv/bin/python" -m pytest -q --tb=short -rfE "${left_out[@]}" --junitxml="$results/$name/pytest.xml" \
    --serve "$program serve {name} --host {host} --port {port}" \
    --cli "$program run {name} {command} {payload} {options}" "${@:-.}" || echo "FAILED: pytest, $name" >&2
}
# Side by side: most of their time is waiting.
run as_it_is "${LD_LIBRARY_PATH:-}" "$@" >"$results/as_it_is.log" 2>&1 &
run stand_in "$build/stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@" >"$results/stand_in.log" 2>&1 &
wait
for name in as_it_is stand_in; do
  echo "--- $name"
  cat "$results/$name.log"
done
add_reports "$results/as_it_is" "$results/stand_in"
end_part
