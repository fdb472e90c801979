#!/usr/bin/env bash
# Runs fuzzers one after the other, and says for each how many inputs it ran and what it reached.
# Usage: run.sh BUILD SECONDS_EACH [TARGET...]; without targets, all of them.
# What they find on their way lies in BUILD/fuzzing/corpus, what breaks something in BUILD/fuzzing/findings.
set -uo pipefail
if [[ $# -lt 2 ]]; then
  echo "usage: $0 BUILD SECONDS_EACH [TARGET...]" >&2
  exit 2
fi
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build="$(cd "$1" && pwd)" || exit 2
seconds="$2"
shift 2
work="$build/fuzzing"
rm -rf "$work/seeds"
mkdir -p "$work/findings" "$work/logs"
"$build/bin/tessera_write_seeds" "$work/seeds" || exit 1

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  for source in "$here"/targets/*.cpp; do
    targets+=("$(basename "$source" .cpp)")
  done
fi

# In memory where that is possible: some targets write files for each input.
if [[ -z "${TMPDIR:-}" && -w /dev/shm ]]; then
  export TMPDIR=/dev/shm
fi
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
failed=0
for target in "${targets[@]}"; do
  log="$work/logs/$target.log"
  mkdir -p "$work/corpus/$target"
  if "$build/bin/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -max_len=4096 \
    -print_final_stats=1 -artifact_prefix="$work/findings/$target-" \
    "$work/corpus/$target" "$work/seeds/$target" "$here/corpus/$target" >"$log" 2>&1; then
    verdict=ok
  else
    verdict=BROKEN
    failed=1
  fi
  runs="$(grep -a -o 'number_of_executed_units: *[0-9]*' "$log" | grep -o '[0-9]*$')"
  reached="$(grep -a -o 'cov: [0-9]* ft: [0-9]*' "$log" | tail -n 1)"
  printf '%-16s %-6s %12s runs  %s\n' "$target" "$verdict" "${runs:-?}" "${reached:-}"
  if [[ $verdict == BROKEN ]]; then
    grep -a -E 'what\(\)|ERROR: |runtime error|Test unit written to' "$log" | sort -u | head -n 4 | sed 's/^/  /'
    echo "  $log"
  fi
done
exit "$failed"
