#!/usr/bin/env bash
# Asks clang-tidy about every source that a build compiles; headers are seen through them. Usage: run_tidy.sh BUILD
set -uo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$(cd "$1" && pwd)"

# The HTTP adapter takes longest and comes first, so that no core waits for it at the end.
list() {
  python3 - "$root" "$build" <<'PYTHON'
import json, os, sys
root, build = sys.argv[1:]
files = {entry["file"] for entry in json.load(open(os.path.join(build, "compile_commands.json")))}
ours = [file for file in files if file.startswith(root + "/") and not file.startswith(build + "/")]
order = lambda file: ("boost/" not in open(file).read(), "gtest" not in open(file).read(), file)
print("\0".join(sorted(ours, key=order)), end="")
PYTHON
}

# The commands are those of g++: clang does not know all of its flags, and Boost 1.74 not that clang has coroutines.
clang_knows=(--extra-arg=-Wno-unknown-warning-option --extra-arg=-DBOOST_ASIO_HAS_CO_AWAIT
  --extra-arg=-DBOOST_ASIO_HAS_STD_COROUTINE)

# clang-tidy counts the warnings that it does not show on stderr.
output="$(list | xargs -0 -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p "$build" "${clang_knows[@]}" 2>/dev/null)"
status=$?
if [[ $status -ne 0 ]]; then
  # A finding in a header comes once for each source that includes it.
  grep --extended-regexp ' (error|warning): ' <<<"$output" | sort --unique >&2
  exit 1
fi
echo "clang-tidy: $(list | tr '\0' '\n' | grep --count '') sources are clean"
