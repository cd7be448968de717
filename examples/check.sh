#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: check.sh CASE PROGRAM [ARGUMENT...]: runs an example and compares what it prints with what
# the system's own program prints, or with what is known.
set -u
case=$1 program=$2
shift 2
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
# Four workers, also if there are fewer CPUs, so that continuations are stolen.
export NOPAL_NUM_WORKERS=4 LC_ALL=C

fail() {
  echo "check.sh: $*" >&2
  exit 1
}

same_output() { # PROGRAM ARGUMENT EXPECTED
  local printed
  printed=$("$1" "$2") || fail "$1 $2 ended with status $?"
  [ "$printed" = "$3" ] || fail "$1 $2 printed '$printed', not '$3'"
}

# refuses STATUS WORDS ARGUMENT...: one line on standard error with these words, none elsewhere.
refuses() {
  local expected=$1 words=$2 status=0
  shift 2
  "$program" "$@" >"$scratch/out" 2>"$scratch/error" || status=$?
  [ $status -eq "$expected" ] || fail "'$*' ended with status $status, not $expected"
  [ ! -s "$scratch/out" ] || fail "'$*' printed something before it failed"
  [ "$(wc -l <"$scratch/error")" -eq 1 ] || fail "'$*': not one line: $(cat "$scratch/error")"
  grep -qF -- "$words" "$scratch/error" || fail "'$*': no '$words' in: $(cat "$scratch/error")"
}

nobody_runs() { "${nobody[@]}" "$@"; }

same_as_sort() {
  "$program" "$1" >"$scratch/ours" || fail "sort_lines $1 ended with status $?"
  sort "$1" >"$scratch/theirs" || fail "sort $1 ended with status $?"
  cmp "$scratch/ours" "$scratch/theirs" || fail "sort_lines and sort differ on $1"
}

# Other programs may change the folder meanwhile, so du runs before and after.
same_as_du() {
  local before ours after tries
  for tries in 1 2 3 4 5; do
    before=$(du -s "$1") || fail "du -s $1 ended with status $?"
    ours=$("$program" "$1") || fail "disk_usage $1 ended with status $?"
    after=$(du -s "$1")
    [ "$before" = "$ours" ] && return 0
    [ "$before" = "$after" ] && fail "disk_usage printed '$ours', du printed '$before'"
  done
  fail "$1 never stayed the same for long enough"
}

# A board of N lines, with one queen in each, of which none attacks another.
solves_queens() { # N
  local -A taken=()
  local row=0 line before what
  "$program" "$1" >"$scratch/board" || fail "queens $1 ended with status $?"
  while read -r line; do
    [[ $line =~ ^\.*Q\.*$ && ${#line} -eq $1 ]] || fail "queens $1 printed '$line'"
    before=${line%%Q*}
    for what in "column ${#before}" "diagonal $((row - ${#before}))" \
      "antidiagonal $((row + ${#before}))"; do
      [ -z "${taken[$what]-}" ] || fail "queens $1: two queens in $what"
      taken[$what]=yes
    done
    row=$((row + 1))
  done <"$scratch/board"
  [ $row -eq "$1" ] || fail "queens $1 printed $row lines"
}

case $case in
fib)
  same_output "$program" 0 'fib(0) = 0'
  same_output "$program" 1 'fib(1) = 1'
  same_output "$program" 27 'fib(27) = 196418'
  ;;
fib_refuses)
  refuses 2 'N is required'
  refuses 2 '0' -- -1
  refuses 2 '90' 91
  refuses 2 'N' three
  refuses 2 '4' 3 4
  ;;
sort)
  find "$1" -type f -name "*.h*" -exec cat {} + 2>"$scratch/error" |
    head -c 20000000 >"$scratch/lines"
  [ "$(wc -l <"$scratch/lines")" -gt 1000 ] || fail "the headers in $1 have too few lines"
  same_as_sort "$scratch/lines"
  ;;
sort_odd_files)
  : >"$scratch/empty"
  printf '\n' >"$scratch/blank"
  printf 'b\na' >"$scratch/without_end"
  printf 'a\0b\n\377\n\n a\nA\na\0a\n\200\na\na\n' >"$scratch/bytes"
  head -c 3000000 "$program" >"$scratch/binary"
  yes 'the same' | head -n 50000 >"$scratch/equal"
  seq 60000 | tac >"$scratch/backwards"
  for file in empty blank without_end bytes binary equal backwards; do
    same_as_sort "$scratch/$file"
  done
  ;;
sort_refuses)
  refuses 2 'FILE is required'
  refuses 1 "'$scratch/none': No such file" "$scratch/none"
  refuses 1 "'$scratch': Is a directory" "$scratch"
  ;;
usage) same_as_du "$1" ;;
usage_odd_tree)
  mkdir -p "$scratch/tree/a/b" "$scratch/tree/c" "$scratch/tree/new
line"
  head -c 100000 /dev/zero >"$scratch/tree/a/file"
  ln "$scratch/tree/a/file" "$scratch/tree/c/other_name"
  ln "$scratch/tree/a/file" "$scratch/tree/a/b/third_name"
  truncate -s 1G "$scratch/tree/c/sparse"
  ln -s /usr "$scratch/tree/link"
  ln -s nowhere "$scratch/tree/c/dangling"
  deep=$scratch/tree/deep
  mkdir -p "$deep/$(printf 'd/%.0s' {1..300})"
  for i in {1..200}; do mkdir "$scratch/tree/c/$i" && echo "$i" >"$scratch/tree/c/$i/f"; done
  for path in tree tree/ tree/link tree/a/file tree/c/sparse; do
    same_as_du "$scratch/$path"
  done
  ;;
usage_refuses)
  refuses 2 'DIR is required'
  refuses 1 "'$scratch/none': No such file" "$scratch/none"
  mkdir -p "$scratch/tree/a/locked" "$scratch/tree/b"
  chmod 0 "$scratch/tree/a/locked"
  if [ -r "$scratch/tree/a/locked" ]; then # root reads everything, others do not
    install -m 755 "$program" "$scratch/disk_usage"
    chmod 755 "$scratch"
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups "$scratch/disk_usage")
    program=nobody_runs
  fi
  refuses 1 'Permission denied' "$scratch/tree"
  ;;
priority)
  printf '%s begins\n' high middle >"$scratch/expected"
  printf '%s\n' 'high ends' 'low begins' 'middle ends' 'low ends' >>"$scratch/expected"
  "$program" low=1 high=3 middle=2 >"$scratch/out" || fail "priority ended with status $?"
  diff "$scratch/expected" "$scratch/out" || fail "the jobs ran in another order"
  ;;
priority_refuses)
  refuses 2 'JOB is required'
  refuses 2 "'low' is not accepted: a job is NAME=NUMBER" high=2 low
  refuses 2 "'low=1x' is not accepted" low=1x
  refuses 2 "'=1' is not accepted" =1
  ;;
primes)
  same_output "$program" 0 0
  same_output "$program" 2 0
  same_output "$program" 3 1
  same_output "$program" 32768 3512
  same_output "$program" 1000000 78498
  same_output "$program" 30000000 1857859
  ;;
primes_late) refuses 1 'cancelled' 4294967296 1 ;;
primes_refuses)
  refuses 2 'usage: primes N'
  refuses 2 "'-1' is not accepted" -1
  refuses 2 "'ten' is not accepted" ten
  refuses 2 "'4294967297' is not accepted" 4294967297
  ;;
queens)
  for n in 1 4 5 6 8 12; do solves_queens $n; done
  same_output "$program" 2 'there is none'
  same_output "$program" 3 'there is none'
  ;;
queens_late) refuses 1 'no board was found in 50 ms' 64 --within 50 ;;
queens_refuses)
  refuses 2 'N is required'
  refuses 2 'N' 0
  refuses 2 'N' 65
  refuses 2 'within' 8 --within soon
  ;;
processes)
  for NOPAL_PROCESSES in 1 2 5; do
    export NOPAL_PROCESSES
    same_output "$program" 1 '1 queens: 1 boards'
    same_output "$program" 3 '3 queens: 0 boards'
    same_output "$program" 8 '8 queens: 92 boards'
    same_output "$program" 11 '11 queens: 2680 boards'
  done
  ;;
processes_refuses)
  refuses 2 'N is required'
  refuses 2 'N' 17
  NOPAL_PROCESSES=none refuses 70 'NOPAL_PROCESSES' 8
  ;;
server) # ten clients at a time, each with three requests
  exec 4< <("$program" --connections 10)
  read -r _ port <&4 || fail "the server ended at once"
  for client in {0..9}; do
    (
      exec 3<>"/dev/tcp/127.0.0.1/$port"
      for n in 10 2$client 1; do
        echo "$n" >&3
        read -r answer <&3
        echo "$answer"
      done >"$scratch/client$client"
    ) &
  done
  wait
  [ "$(cat "$scratch"/client*)" = "$(for fib in 6765 10946 17711 28657 46368 75025 121393 196418 \
    317811 514229; do printf '%s\n' 55 $fib 1; done)" ] || fail "answers: $(cat "$scratch"/client*)"
  [ "$(cat <&4)" = '30 requests' ] || fail "the server did not count 30 requests"
  ;;
server_left) # three clients leave without reading; one worker: run's own thread answers, too
  for tries in {1..5}; do
    exec 4< <(NOPAL_NUM_WORKERS=1 "$program" --connections 4 || echo "status $?")
    read -r _ port <&4 || fail "the server ended at once"
    for client in {1..3}; do
      printf '20\n%.0s' {1..8} >"/dev/tcp/127.0.0.1/$port"
    done
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    echo 10 >&3
    read -r answer <&3 || fail "the server ended amid its clients"
    exec 3>&-
    [ "$answer" = 55 ] || fail "the last client got '$answer', not 55"
    [[ $(cat <&4) == *requests ]] || fail "the server did not end as it should"
  done
  ;;
server_refuses) refuses 2 '1' --connections 0 ;;
*) fail "unknown case '$case'" ;;
esac
