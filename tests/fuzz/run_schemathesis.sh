#!/usr/bin/env bash
# Has Schemathesis make up requests from the OpenAPI document of `everything`, right ones and wrong ones; the daemon must
# answer none of them with a server error. Usage: run_schemathesis.sh BUILD SECONDS [OPTION OF SCHEMATHESIS...]
# It is installed from PyPI, at one version, into an environment of its own.
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../results.sh"
begin_part schemathesis "$1"
seconds="$2"
shift 2
version=4.32.5
work="$build/schemathesis"
environment="$work/environment-$version"
served="$work/served"
log="$work/serve.log"
mkdir -p "$work"
cd "$work" || exit 1
forget_settings

install() {
  "$environment/bin/schemathesis" --version >/dev/null 2>&1 && return
  rm -rf "$environment"
  python3 -m venv "$environment" &&
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --retries 10 --timeout 60 \
      "schemathesis==$version"
}

serve() {
  rm -rf "$served" "$log"
  mkdir -p "$served"
  "$build/bin/tessera" serve everything --debug --port 0 -i "$served" -o "$served" 2>"$log" &
  server=$!
  trap 'kill "$server" 2>/dev/null' EXIT
  for _ in {1..100}; do
    port="$(grep --no-messages --only-matching --max-count=1 'listening .*port=[0-9]*' "$log" | grep --only-matching '[0-9]*$')"
    [[ -n "$port" ]] && return
    sleep 0.1
  done
  cat "$log"
  return 1
}

# Bare 4xx answers are no part of the document, which is upstream's; so what is asked for is that nothing breaks.
make_up_requests() {
  "$environment/bin/schemathesis" run "http://127.0.0.1:$port/openapi.json" --checks not_a_server_error \
    --max-time "$seconds" --generation-database none --suppress-health-check all --warnings off --no-color "$@"
}

daemon_is_well() {
  kill -0 "$server" && ! grep --extended-regexp '^\S+ error ' "$log"
}

step "install Schemathesis $version" install
step "serve everything" serve
step "no request ends in a server error" make_up_requests "$@"
step "the daemon goes on, and has logged no error" daemon_is_well
rm -rf "$served"
end_part
