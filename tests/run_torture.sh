#!/usr/bin/env bash
# Runs the tests of load and faults. Usage: run_torture.sh BUILD [PYTEST_OPTION...]
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part torture "$1"
shift

forget_settings
cd "$repository/tests/torture" || exit 1
PYTHONDONTWRITEBYTECODE=1 "$repository/.venv/bin/python" -m pytest -q --tb=short -rfEs --durations=10 \
  --junitxml="$results/pytest.xml" --build "$build" "${@:-.}" || echo "FAILED: pytest" >&2
add_reports "$results"
end_part
