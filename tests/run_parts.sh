#!/usr/bin/env bash
# Runs parts of the tests one after the other, and ends with their sum. Usage: run_parts.sh PART...
set -uo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
results="$root/build/results"
mkdir -p "$results"

lines=()
passed=0
failed=0
skipped=0
for part in "$@"; do
  echo "=== $part"
  rm -f "$results/$part.counts"
  begin=$SECONDS
  "${MAKE:-make}" --no-print-directory -C "$root" "test-$part" </dev/null
  status=$?
  # A part that broke off, in its build for instance, is one failure.
  counts="$(cat "$results/$part.counts" 2>/dev/null || echo "0 1 0")"
  read -r p f s <<<"$counts"
  if [[ $status -ne 0 && $f -eq 0 ]] || [[ $p -eq 0 && $f -eq 0 ]]; then
    f=1
  fi
  passed=$((passed + p))
  failed=$((failed + f))
  skipped=$((skipped + s))
  lines+=("$(printf '%-12s %6d passed %4d failed %4d skipped %5d s' "$part" "$p" "$f" "$s" $((SECONDS - begin)))")
done

echo
printf '%s\n' "${lines[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 && $passed -gt 0 ]]
