#!/usr/bin/env bash
# Installs a build and uses it as a stranger would. Usage: run.sh BUILD
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../results.sh"
begin_part install "$1"

work="$(mktemp --directory)"
server=""
clean_up() {
  [[ -z "$server" ]] || kill -KILL "$server" 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

# Installed in one place and used in another: nothing in it may depend on where it lies.
install_build() {
  cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; return 1; }
  mv "$work/first" "$work/prefix"
}
step "install" install_build
prefix="$work/prefix"
tessera="$prefix/bin/tessera"
export TESSERA_PATH="$work/project"

# Prints both if they differ.
is_equal() {
  [[ "$1" == "$2" ]] || { printf 'got:    %s\nwanted: %s\n' "$1" "$2" >&2; return 1; }
}

build_project() {
  cmake -G Ninja -S "$repository/tests/install" -B "$work/project" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >"$work/log" &&
    cmake --build "$work/project" >>"$work/log" || { cat "$work/log"; return 1; }
}
step "build a project that finds the package" build_project
step "the project's program uses an array" \
  is_equal "$("$work/project/mean" 1 2 6)" "3"
step "the project's own daemon serves" is_equal "$("$work/project/own_daemon")" "serving"
step "the project's module runs" \
  is_equal "$(cd "$work" && "$tessera" run scale apply -o "$work/out" '{"inputs": {"x": [1.0, 2.0], "factor": 3.0}}' |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["y"]["data"]["buffer"])')" "[3.0, 6.0]"

new_tesseract() {
  cd "$work" && "$tessera" new heat && "$tessera" build heat/heat.cpp &&
    "$tessera" run ./heat apply -o "$work/out" @heat/example_inputs.json >"$work/heat.json" && grep -q '"y"' "$work/heat.json"
}
step "tessera new, build and run without CMake" new_tesseract
step "the installed examples are listed" grep -q vectoradd <("$tessera" list)

answer() { curl --silent --show-error --max-time 10 --unix-socket "$work/socket" "http://localhost$1"; }
start_server() {
  cd "$work" || return
  "$tessera" serve scale vectoradd --port 0 --unix "$work/socket" 2>"$work/serve.log" &
  server=$!
  for _ in {1..100}; do
    [[ "$(answer /health 2>/dev/null)" == '{"status":"ok"}' ]] && return
    sleep 0.1
  done
  cat "$work/serve.log"
  return 1
}
step "the installed daemon serves" start_server
step "the daemon lists what it serves" grep -q scale <(answer /)
step "the project's program in C++ calls it" \
  is_equal "$("$work/project/call_in_cpp" "unix:$work/socket:/scale" 2 3.5)" "7"
step "the project's program in C calls it" \
  is_equal "$("$work/project/call" "unix:$work/socket:/scale" 2 3.5)" "7"
call_by_pkg_config() {
  # shellcheck disable=SC2046
  cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$repository/tests/install/call.c" -o "$work/call" \
    $(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs tessera) &&
    is_equal "$(LD_LIBRARY_PATH="$prefix/lib" "$work/call" "unix:$work/socket:/scale" 2 3.5)" "7"
}
step "so does one that pkg-config builds" call_by_pkg_config
stop_server() {
  kill -TERM "$server" && wait "$server"
  local code=$?
  server=""
  return $code
}
step "SIGTERM ends the daemon with exit code 0" stop_server
end_part
