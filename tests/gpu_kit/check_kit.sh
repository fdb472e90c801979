#!/usr/bin/env bash
# Checks that a kit needs nothing but glibc and is small, and writes into `needs` which glibc. Usage: check_kit.sh KIT
set -euo pipefail
cd "$1"
most_bytes=$((50 << 20))
unpacked="$(mktemp -d)"
trap 'rm -rf "$unpacked"' EXIT
files=(bin/* lib/tessera/*)
for wheel in python/tessera-*.whl; do
  if [[ -e "$wheel" ]]; then
    python3 -m zipfile --extract "$wheel" "$unpacked"
    files+=("$unpacked"/tessera/_native.abi3.so)
  fi
done

libraries="$(readelf --dynamic "${files[@]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)"
foreign="$(grep --invert-match --extended-regexp '^(libc|libm|libdl|libpthread|librt|ld-linux-.*)\.so\.[0-9]+$' \
  <<<"$libraries" || true)"
if [[ -n "$foreign" ]]; then
  echo "the kit needs libraries that a bare machine may not have: $foreign" >&2
  exit 1
fi
version="$(objdump -T "${files[@]}" | grep --only-matching 'GLIBC_[0-9.]*' | sort --version-sort | tail -n 1)"
echo "glibc ${version#GLIBC_} or later" >needs
size="$(du --summarize --bytes . | cut -f 1)"
if [[ $size -gt $most_bytes ]]; then
  echo "the kit is too large: $size bytes" >&2
  exit 1
fi
echo "$PWD: $((size >> 20)) MiB, needs $(cat needs)"
