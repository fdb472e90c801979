#!/usr/bin/env bash
# Makes or updates the Python environment .venv that the conformance suite and the benchmarks run in.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
requirements="$root/tests/conformance/requirements.txt"
environment="$root/.venv"
stamp="$environment/requirements.txt"

if [[ -f "$stamp" ]] && cmp --silent "$stamp" "$requirements" && "$environment/bin/python" --version >/dev/null 2>&1; then
  exit 0
fi
echo "tessera: making the Python environment .venv"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "tessera: Python 3.11 or newer is needed, python3 is $(python3 --version)" >&2
  exit 1
}
rm -rf "$environment"
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --retries 10 --timeout 60 \
  --requirement "$requirements"
cp "$requirements" "$stamp"
