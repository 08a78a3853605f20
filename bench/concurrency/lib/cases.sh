# SPDX-License-Identifier: MIT
#
# The cases of the suite: what there is to measure, how much of it a program does, and
# what is wanted.  Owns CASES (a list) and, by case, SIZES, PARTS, WANTED and TITLES.
# shellcheck shell=bash disable=SC2034

# case, operations, file under bench/concurrency/luaweb (server: see server.sh), wanted
# (millions a second, or - where nothing is), what one operation is
readonly CASE_TABLE="
B1          4000000  messages  8  a message between two jobs, there and back
B2          4000000  messages  8  a message from 100 jobs to one
B3-503      2000000  messages  -  a hop of a token round 503 jobs
B3-5003     2000000  messages  -  a hop of a token round 5,003 jobs
B4          100000   messages  -  a leaf of a tree of jobs, ten under each
B5-end      3000000  jobs      5  a job started that only ends
B5-join     1000000  jobs      -  a job started and joined
B6-2-wait   1000000  choices   4  a choice of 2 channels, every other waits
B6-8-wait   500000   choices   -  a choice of 8, every other waits
B6-64-wait  100000   choices   -  a choice of 64, every other waits
B6-2-ready  2000000  choices   4  a choice of 2, one of which is ready
B6-8-ready  1000000  choices   -  a choice of 8, the last of which is ready
B6-64-ready 200000   choices   -  a choice of 64, the last of which is ready
B7-0        1000000  choices   -  a choice whose timer loses
B7-100k     500000   choices   -  the same with 100,000 others armed
B7-alone    5000000  choices   -  a timer armed and cancelled
B8-fired    1000000  choices   -  a nack made, that fires
B8-won      1000000  choices   -  a nack made, whose side wins
B8-none     3000000  choices   -  the same choice without a nack
B9          500000   messages  -  a meeting of two of four chameneos
B10-lock    2000000  sharing   -  a lock handed on, 100 wait
B10-mvar    2000000  sharing   -  an MVar updated, 100 wait
B11         1000000  sharing   -  a delivery of a broadcast to 10,000, 1 % stalled
B12         1        messages  -  a message of the prime sieve, to the 1,000th
B13         1000000  messages  -  a value through five bounded(64)
B14         100000   parked    -  a job parked, woken, cancelled
B15-empty   1        server    -  a request, a handler that waits for nothing
B15-timeout 1        server    -  the same with a time limit
B15-scope   1        server    -  the same with a scope, a finalizer and req.closed
B15-sleep   1        server    -  a handler with a time limit that sleeps 0 s
B15-spawn   1        server    -  a handler with a time limit that joins a job
"

CASES=()
declare -A SIZES=() PARTS=() WANTED=() TITLES=()

read_cases() {
  local name size part wanted title
  while read -r name size part wanted title; do
    if [[ ! $name ]]; then continue; fi
    CASES+=("$name")
    SIZES[$name]=$size PARTS[$name]=$part WANTED[$name]=$wanted TITLES[$name]=$title
  done <<<"$CASE_TABLE"
}

# choose_cases <row...>: CASES gets those of these rows, B6 and B6-2-wait alike, in
# their order; fails with the row that there isn't.
choose_cases() {
  local row name kept=()
  for row in "$@"; do
    if [[ " ${CASES[*]} " != *" $row"[\ -]* ]]; then
      fail_usage "--rows: no $row; there is: ${CASES[*]}"
    fi
  done
  for name in "${CASES[@]}"; do
    if [[ " $* " == *" $name "* || " $* " == *" ${name%%-*} "* ]]; then
      kept+=("$name")
    fi
  done
  CASES=("${kept[@]}")
}
