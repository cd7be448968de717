# SPDX-License-Identifier: MIT
# What the scripts share: packages, progress lines, stages. Sourced, with bash, from script/.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/log
export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}

# The scripts that need it (demo, test, all = script/test --all, bare, or another), the Debian
# package, and what it is for.
packages=(
  "demo test all|g++|the C++ compiler"
  "demo test all|cmake|the build system"
  "demo test all|ninja-build|runs the build"
  "demo test all|pkg-config|finds libraries"
  "demo test all|git|the commit that benchmark results name"
  "demo test all|python3|the benchmark launcher and the repository's checks"
  "test all|libgtest-dev|GoogleTest, for the tests"
  "test all|libbenchmark-dev|Google Benchmark, for the micro-benchmarks"
  "demo test all|libcli11-dev|command lines of the benchmark programs"
  "demo test all|nlohmann-json3-dev|JSON of the benchmark programs"
  "demo test all|libtbb-dev|oneTBB, to compare with"
  "demo test all|clang-19|the second C++ compiler"
  "demo test all|libomp-19-dev|LLVM's OpenMP, to compare with"
  "demo test all|python3-matplotlib|plots"
  "test all|libxml2-dev|libxml2, for the interop matrix"
  "test all|libexpat1-dev|expat, for the interop matrix"
  "test all|libpcre2-dev|PCRE2, for the interop matrix"
  "test all|libsqlite3-dev|SQLite, for the interop matrix"
  "test all|liblua5.4-dev|Lua, for the interop matrix"
  "test all|libgsl-dev|GSL, for the interop matrix"
  "test all|zlib1g-dev|zlib, for the interop matrix"
  "test all|libucx-dev|UCX, which carries data between processes"
  "test all|libopenmpi-dev|Open MPI, to begin processes with"
  "test all|openmpi-bin|the launcher of Open MPI"
  "test all|libmpich-dev|MPICH, to begin processes with"
  "test all|mpich|the launcher of MPICH"
  "test all|libopenblas-dev|OpenBLAS, for the interop matrix"
  "test all|relacy-dev|Relacy, the model checker"
  "test all|libclang-rt-19-dev|Clang's runtimes for sanitizers and coverage, for the tests"
  "test all|llvm-19|names in the reports of Clang's sanitizers"
  "test all|gdb|the test of backtraces"
  "test all|valgrind|the test of instructions per fork, and with --all the valgrind tests"
  "test all format|clang-format-19|the format check"
  "all scheduling|libboost-context-dev|Boost.Context, whose switch fibers are compared with"
  "all|g++-11|the oldest GCC that is supported, for the compiler matrix"
  "all|clang-14|the oldest Clang that is supported, for the compiler matrix"
  "all|clang-16|a Clang in between, for the compiler matrix"
  "all|lld-19|the linker for Clang's control-flow integrity, for the compiler matrix"
  "bare|debootstrap|makes the bare Debian 12 of script/bare"
)

say() {
  printf '[%2d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

usage_error() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=120 "$@" \
    >>"$logs/apt.log" 2>&1
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need_packages SCRIPT: installs what the script needs and this machine lacks; says what and why.
# Scripts that run side by side install one after the other.
need_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "this script installs what it needs with apt, and this is not a Debian system"
  mkdir -p "$logs"
  exec 9>"$logs/packages.lock"
  flock 9
  install_missing "$1"
  exec 9>&-
}

install_missing() {
  local entry who name purpose missing=()
  for entry in "${packages[@]}"; do
    IFS='|' read -r who name purpose <<<"$entry"
    [[ " $who " == *" $1 "* ]] || continue
    is_installed "$name" && continue
    [ ${#missing[@]} -gt 0 ] || say "these packages are missing and will be installed:"
    printf '          %-20s %s\n' "$name" "$purpose"
    missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    die "installing packages needs root, and there is no sudo: run as root" \
      "'apt-get install ${missing[*]}', then this script again"
  fi
  : >"$logs/apt.log"
  say "apt-get update"
  apt_get update || apt_failed "apt-get update failed" "${missing[@]}"
  say "apt-get install, ${#missing[@]} packages and what they depend on"
  apt_get install --no-install-recommends "${missing[@]}" ||
    apt_failed "apt-get install failed" "${missing[@]}"
}

apt_failed() {
  grep -E '^(E|W|Err):?' "$logs/apt.log" | tail -n 5 >&2
  die "$1 (all of its output: build/log/apt.log); missing: ${*:2}"
}

# follow LOG: shows the log's last line in place until killed, or until the script is gone.
follow() {
  local line columns
  columns=$(tput cols 2>/dev/null || echo 80)
  while sleep 0.5 && kill -0 $$ 2>/dev/null; do
    line=$(tail -n 1 "$1" | tr -cd '[:print:]')
    printf '\r\033[K  %s\r' "${line:0:$((columns - 4))}"
  done
}

# quietly LOG COMMAND...: runs the command with its output in build/log/LOG.log.
quietly() {
  local log=$logs/$1.log follower= status=0
  shift
  mkdir -p "$logs"
  : >"$log"
  if [ -t 1 ]; then
    follow "$log" &
    follower=$!
  fi
  "$@" >"$log" 2>&1 || status=$?
  if [ -n "$follower" ]; then
    kill "$follower"
    wait "$follower" 2>/dev/null
    printf '\r\033[K'
  fi
  return $status
}

# stage LOG TEXT COMMAND...: says TEXT, runs the command quietly, shows why where it fails.
stage() {
  local log=$1 text=$2
  shift 2
  say "$text"
  quietly "$log" "$@" && return 0
  say "$text: failed; all of its output is in build/log/$log.log"
  grep -E -m 20 'error|Error|FAILED|fatal' "$logs/$log.log" || tail -n 20 "$logs/$log.log"
  return 1
}
