#!/usr/bin/env bash
# Tests the Python package as it is installed from its wheel: its own tests, and the conformance suite with it as the
# client, against tessera and against the Python runtime. Usage: run_python_sdk.sh BUILD [PYTEST_OPTION...]
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/results.sh"
begin_part python-sdk "$1"
shift

forget_settings
python="$repository/.venv/bin/python"
site="$build/python-site"
rm -rf "$site"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$site" "$build"/wheels/tessera-*.whl || exit 1

program="$(printf '%q' "$build/bin/tessera")"
run() {
  local name="$1" libraries="$2" folder="$3"
  shift 3
  (cd "$repository/tests/$folder" && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$site" PATH="$build/bin:$PATH" \
    LD_LIBRARY_PATH="$libraries" TESSERA_WHEELS="$build/wheels" \
    "$python" -m pytest -q --tb=short -rfE --junitxml="$results/$name/pytest.xml" "$@" || echo "FAILED: pytest, $name")
}
stand_in="$build/stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
ours=(--serve "$program serve {name} --host {host} --port {port}" --cli "$program run {name} {command} {payload} {options}")
# Of the suite, what calls through the client.
suite=(--sdk tessera test_sdk.py test_concurrency.py test_gpu_transport.py test_gpu_arrays.py)
names=(package package_stand_in tessera_as_it_is tessera_stand_in runtime_as_it_is runtime_stand_in)
{
  run package "${LD_LIBRARY_PATH:-}" python --ignore test_gpu.py "$@" >"$results/package.log" 2>&1
  run package_stand_in "$stand_in" python "${@:-test_gpu.py}" >"$results/package_stand_in.log" 2>&1
  run tessera_as_it_is "${LD_LIBRARY_PATH:-}" conformance "${ours[@]}" "${suite[@]}" >"$results/tessera_as_it_is.log" 2>&1
  run tessera_stand_in "$stand_in" conformance "${ours[@]}" "${suite[@]}" >"$results/tessera_stand_in.log" 2>&1
} &
{
  run runtime_as_it_is "${LD_LIBRARY_PATH:-}" conformance --reference "${suite[@]}" >"$results/runtime_as_it_is.log" 2>&1
  run runtime_stand_in "$stand_in" conformance --reference "${suite[@]}" >"$results/runtime_stand_in.log" 2>&1
} &
wait
for name in "${names[@]}"; do
  echo "--- $name"
  cat "$results/$name.log"
done
add_reports "${names[@]/#/$results/}"
end_part
