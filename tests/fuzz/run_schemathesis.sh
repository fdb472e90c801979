#!/usr/bin/env bash
# Has Schemathesis make up requests from the OpenAPI document of `everything`, right ones and wrong ones; the daemon must
# answer none of them with a server error. Usage: run_schemathesis.sh BUILD [SECONDS]
# It is installed from PyPI, at one version, into an environment of its own.
set -uo pipefail
build="$(cd "$1" && pwd)" || exit 2
seconds="${2:-60}"
version=4.32.5
work="$build/schemathesis"
environment="$work/environment-$version"
mkdir -p "$work"

if ! "$environment/bin/schemathesis" --version >/dev/null 2>&1; then
  rm -rf "$environment"
  python3 -m venv "$environment" &&
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --retries 10 --timeout 60 \
      "schemathesis==$version" || exit 1
fi

served="$work/served"
rm -rf "$served"
mkdir -p "$served"
for name in "${!TESSERACT_@}"; do
  unset "$name"
done
"$build/bin/tessera" serve everything --debug --port 0 -i "$served" -o "$served" 2>"$work/serve.log" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$served"' EXIT
port=
for _ in {1..100}; do
  port="$(grep --only-matching --max-count=1 'listening .*port=[0-9]*' "$work/serve.log" | grep --only-matching '[0-9]*$')"
  [[ -n "$port" ]] && break
  sleep 0.1
done
if [[ -z "$port" ]]; then
  cat "$work/serve.log" >&2
  exit 1
fi

# Bare 4xx answers are no part of the document, which is upstream's; so what is asked for is that nothing breaks.
cd "$work" || exit 1
"$environment/bin/schemathesis" run "http://127.0.0.1:$port/openapi.json" --checks not_a_server_error \
  --max-time "$seconds" --generation-database none --suppress-health-check all --no-color --warnings off
status=$?
if ! kill -0 "$server" 2>/dev/null; then
  echo "the daemon has ended:" >&2
  tail -n 20 "$work/serve.log" >&2
  status=1
fi
if grep --extended-regexp ' error +' "$work/serve.log" >&2; then
  echo "the daemon logged an error" >&2
  status=1
fi
exit "$status"
