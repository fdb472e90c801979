#!/usr/bin/env bash
# Installs the Debian packages that tessera needs and that are missing. Usage: install_packages.sh build|test
# The names are the same in Debian 12 and 13. TESSERA_SKIP_PACKAGES=1 leaves the machine as it is.
set -euo pipefail

build_packages=(
  g++ cmake ninja-build make ccache pkg-config
  libboost-dev nlohmann-json3-dev liblz4-dev libre2-dev libcli11-dev
  libgtest-dev libgmock-dev libbenchmark-dev libsimdjson-dev libcpp-httplib-dev
  curl  # the calls that `make serve` prints
)
test_packages=(clang-19 libclang-rt-19-dev llvm-19 clang-tidy-19 clang-format-19 python3 python3-dev python3-venv)

packages=("${build_packages[@]}")
if [[ "${1:-build}" == test ]]; then
  packages+=("${test_packages[@]}")
fi

if [[ "${TESSERA_SKIP_PACKAGES:-0}" == 1 ]]; then
  exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "tessera: this is not Debian; what these packages hold must be installed by other means:" >&2
  echo "  ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state="$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)"
  if [[ "$state" != installed ]]; then
    missing+=("$package")
  fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
  if command -v sudo >/dev/null && { sudo --non-interactive true 2>/dev/null || [[ -t 0 ]]; }; then
    as_root=(sudo)
  else
    echo "tessera: these packages are missing, and installing them needs root. Run this, then try again:" >&2
    echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

echo "tessera: installing ${missing[*]}"
get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet=2 -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 "$@"
}
# The lists may be older than the packages that they name, or not be there at all.
get update
get install --yes --no-install-recommends "${missing[@]}" >/dev/null
