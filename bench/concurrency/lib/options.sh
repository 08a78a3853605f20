# SPDX-License-Identifier: MIT
#
# The command line of bench/concurrency/run: what may be chosen, the defaults, and the
# help text.  Owns ROUNDS, SIDES (a list), SCALE, BUILD, OUT and JSON_FILE.
# shellcheck shell=bash disable=SC2034

readonly ALL_PEERS="cqueues luv go"

ROUNDS=5
JIT=(on off)
PEERS=()
SIDES=()
SCALE=1
BUILD=build
OUT=
JSON_FILE=

usage() {
  cat <<TEXT
usage: bench/concurrency/run [option ...]

Measures what jobs, channels and choices cost: programs that run inside luaweb, and the
same written for libraries and languages that have the like. Each runs in a process of
its own on one core, counts its own work, and fails where its result is wrong. Prints a
table in Markdown. Installs nothing: what is missing is left out and named.

  --rounds N     of each program (default 5); the table has medians and spreads
  --rows LIST    B1 to B15, or a single case such as B6-2-wait (default: all)
                   B1-B4, B9, B12, B13  messages    B5   starting and ending jobs
                   B6   choices                     B7   timers
                   B8   nacks                       B10  locks, MVars
                   B11  broadcast                   B14  memory of parked jobs
                   B15  inside a server, under wrk
  --peers LIST   of: ${ALL_PEERS// /, }; or none (default: all)
                   cqueues  package lua-cqueues, under LuaJIT
                   luv      package lua-luv, coroutines resumed by hand
                   go       package golang-go, goroutines on one core
  --jit LIST     of: on, off: luaweb with the JIT compiler, and without (default: both)
  --quick        a smoke test: 1 round of a tenth of the work
  --json FILE    the results with every run as JSON
  --out FILE     the table
  --build DIR    where luaweb was built (default build)
  --help         this text

Examples
  bench/concurrency/run                               all of it (about 10 minutes)
  bench/concurrency/run --quick
  bench/concurrency/run --rows B1,B6 --peers go --jit on
  bench/concurrency/run --rows B6-2-wait --rounds 11 --json /tmp/choice.json
  bench/concurrency/run --rows B15                    needs wrk

The peers in Lua want
  cmake -B build -DLUAWEB_BENCH=ON && cmake --build build -j

Exit codes: 0 done (also where a peer is missing); 1 a program failed or its result was
wrong; 2 luaweb is missing, or wrong usage; 130 interrupted.
TEXT
}

# read_option <option> <value>
read_option() {
  case $1 in
    --rounds) read_number "$1" "$2" 101; ROUNDS=$NUMBER ;;
    --rows)
      IFS=, read -ra WORDS <<<"$2"
      choose_cases "${WORDS[@]}"
      ;;
    --peers)
      read_words "$1" "$2" "$ALL_PEERS none"
      PEERS=("${WORDS[@]}")
      ;;
    --jit) read_words "$1" "$2" "on off"; JIT=("${WORDS[@]}") ;;
    --json) JSON_FILE=$2 ;;
    --out) OUT=$2 ;;
    --build) BUILD=$2 ;;
  esac
}

# SIDES gets what is compared, in the order of the columns.
choose_sides() {
  local word
  if ((${#PEERS[@]} == 0)); then read -ra PEERS <<<"$ALL_PEERS"; fi
  for word in "${JIT[@]}"; do
    if [[ $word == on ]]; then SIDES+=(luaweb); else SIDES+=(luaweb-off); fi
  done
  for word in "${PEERS[@]}"; do
    if [[ $word != none ]]; then SIDES+=("$word"); fi
  done
}

# read_options <argument...>
read_options() {
  while (($# > 0)); do
    case $1 in
      --help | -h) usage; exit 0 ;;
      --quick) ROUNDS=1 SCALE=10; shift ;;
      --rounds | --rows | --peers | --jit | --json | --out | --build)
        [[ ${2:-} ]] || fail_usage "$1: wants a value"
        read_option "$1" "$2"
        shift 2
        ;;
      *) fail_usage "unknown argument: $1" ;;
    esac
  done
  choose_sides
}
