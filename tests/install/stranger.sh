#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes the Debian package with nothing but a compiler, CMake and make, installs it, and builds
# programs with it: script/bare tests/install/stranger.sh. Needs root; changes the system.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
touch /tmp/begin

apt-get update
apt-get install --no-install-recommends g++ cmake make
cmake --preset install
cmake --build --preset install -j "$(nproc)"
cpack --config build/install/CPackConfig.cmake
written=$(find . -mindepth 1 \( -path ./build -o -path ./.git \) -prune -o -newer /tmp/begin -print)
[ -z "$written" ] || { echo "these were written into the source tree: $written"; exit 1; }
apt-get install --no-install-recommends "$PWD"/build/install/libnopal-dev_*.deb pkg-config

build=$(mktemp -d)
for program in consumer:nopal processes:nopal-process; do
  g++ -std=c++20 -O2 "$here/${program%:*}.cc" $(pkg-config --cflags --libs "${program#*:}") \
    -o "$build/${program%:*}"
done
cmake -S "$here/found" -B "$build/cmake"
cmake --build "$build/cmake"
for program in "$build/consumer" "$build/cmake/consumer"; do
  "$program" | grep '^fib(20) = 6765 with [1-9]'
done
for program in "$build/processes" "$build/cmake/processes"; do
  NOPAL_PROCESSES=2 "$program" | grep '^fib(20) = 6765 with 2 processes$'
done
if cmake -S "$here/found" -B "$build/mpi" -D COMPONENTS=process_openmpi 2>"$build/why"; then
  echo "the component process_openmpi was found without an MPI"
  exit 1
fi
grep 'process_openmpi cannot be used' "$build/why"
apt-get purge libnopal-dev
[ ! -e /usr/include/nopal ]
