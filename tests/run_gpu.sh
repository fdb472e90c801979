#!/usr/bin/env bash
# Runs the tests of GPU arrays between processes, on the stand-in driver. Usage: run_gpu.sh BUILD [PYTEST_OPTION...]
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part gpu "$1"
shift

forget_settings
cd "$repository/tests/gpu" || exit 1
PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu LD_LIBRARY_PATH="$build/stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  "$repository/.venv/bin/python" -m pytest -q --tb=short -rfE --durations=10 --junitxml="$results/pytest.xml" \
  --build "$build" "${@:-.}" || echo "FAILED: pytest" >&2
add_reports "$results"
end_part
