# shellcheck shell=bash disable=SC2034
# Sourced by the runners: where each part of `make test` leaves its counts.
# A part calls `begin_part NAME BUILD`, then `step NAME COMMAND...` and `add_reports FOLDER...`, then `end_part`.

repository="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
passed=0
failed=0
skipped=0

# A test of pytest that hangs says where, and ends its run.
export PYTEST_ADDOPTS="-o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true"

begin_part() {
  part="$1"
  build="$(cd "$2" && pwd)"
  results="$repository/build/results/$part"
  rm -rf "$results" "$results.counts"
  mkdir -p "$results"
}

# A configuration of the user's is no business of the tests, which choose their own.
forget_settings() {
  local name
  for name in "${!TESSERACT_@}" "${!TESSERA_@}"; do
    unset "$name"
  done
}

# Runs one check that has no report of its own, and counts it as one.
step() {
  local name="$1"
  shift
  echo "--- $name"
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name" >&2
  fi
}

# Adds what the reports of ctest, GoogleTest and pytest in the folders say.
add_reports() {
  local counts
  counts="$(python3 "$repository/tests/count_reports.py" "$@")" || counts="0 1 0"
  read -r p f s <<<"$counts"
  passed=$((passed + p))
  failed=$((failed + f))
  skipped=$((skipped + s))
}

# Writes the counts and ends the script; a part in which nothing passed has not shown anything.
end_part() {
  if [[ $passed -eq 0 && $failed -eq 0 ]]; then
    echo "FAILED: nothing ran in '$part'" >&2
    failed=1
  fi
  echo "$passed $failed $skipped" >"$results.counts"
  echo "$part: $passed passed, $failed failed, $skipped skipped"
  [[ $failed -eq 0 ]]
  exit
}
