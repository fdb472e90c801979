#!/usr/bin/env bash
# Runs the conformance suite against the programs of a build. Usage: run_conformance.sh BUILD [PYTEST_OPTION...]
# Left out: GPU arrays and transports (test_gpu_*.py), and what conformance_exceptions.txt lists.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part conformance "$1"
shift

left_out=(--ignore-glob='*test_gpu_*.py')
while IFS= read -r node; do
  left_out+=(--deselect="$node")
done < <(grep --extended-regexp --invert-match '^\s*(#|$)' "$repository/tests/conformance_exceptions.txt")

# The suite is a copy that stays as it is: no byte code beside it. The tests choose the configuration.
for name in "${!TESSERACT_@}" "${!TESSERA_@}"; do
  unset "$name"
done
program="$(printf '%q' "$build/bin/tessera")"
cd "$repository/tests/conformance" || exit 1
PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu PATH="$build/bin:$PATH" \
  "$repository/.venv/bin/python" -m pytest -q --tb=short -rfE "${left_out[@]}" --junitxml="$results/pytest.xml" \
  --serve "$program serve {name} --host {host} --port {port}" \
  --cli "$program run {name} {command} {payload} {options}" "${@:-.}" || echo "FAILED: pytest" >&2
add_reports "$results"
end_part
