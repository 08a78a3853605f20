# SPDX-License-Identifier: MIT
#
# The command line of bench/machines: what may be chosen, the defaults, and the help
# text.  Owns ROWS (a list), ROUNDS, LOAD_SECONDS, AGAINST, BUILD and OUT.
# shellcheck shell=bash disable=SC2034

readonly MACHINE_ROWS="full greeter constant load"

ROWS=()
ROUNDS=0
LOAD_SECONDS=1
AGAINST=
BUILD=build
OUT=bench/machines.md
IS_QUICK=

usage() {
  cat <<TEXT
usage: bench/machines [option ...]

Measures what luaweb's machines cost: pairs of servers with one worker each get the
same octets from wrk in turn on 127.0.0.1, without pipelining and with 16 requests a
write. Prints a report in Markdown and writes it to a file. Installs nothing: what is
missing is left out and named.

  --rows LIST         of: ${MACHINE_ROWS// /, } (default: all)
                        full      a machine with all questions, and one with none
                        greeter   apps/greeter.lua, and a machine with no question
                        constant  an answer that never changes, and raw libuv
                        load      the time that an app of 1,000 resources takes to load
  --against BINARY    one more row: the machine with no question under this build, and
                      under another luaweb
  --rounds N          of each row: N pairs of loads with processes of their own
                      (default 11)
  --seconds N         of one load, a whole number (default 1)
  --quick             a smoke test: 3 rounds (about 70 seconds, else about 5 minutes)
  --build DIR         where luaweb and the floor were built (default build)
  --out FILE          the report (default bench/machines.md)
  --help              this text

Examples
  bench/machines                                 all rows but --against
  bench/machines --quick --out /tmp/machines.md
  bench/machines --rows full,load --rounds 21
  bench/machines --rows full --against /tmp/before/luaweb

The floor of the row constant wants
  cmake -B build -DLUAWEB_BENCH=ON && cmake --build build -j

Exit codes: 0 done (also where a bound does not hold, or the floor is missing); 1 a
wrong answer, or errors under load; 2 luaweb or wrk is missing, or wrong usage; 130
interrupted.
TEXT
}

# read_option <option> <value>
read_option() {
  case $1 in
    --rows) read_words "$1" "$2" "$MACHINE_ROWS"; ROWS=("${WORDS[@]}") ;;
    --against)
      AGAINST=$2
      if [[ $2 != */* ]]; then AGAINST=./$2; fi # else it were looked for in PATH
      ;;
    --rounds) read_number "$1" "$2" 101; ROUNDS=$NUMBER ;;
    --seconds) read_number "$1" "$2" 60; LOAD_SECONDS=$NUMBER ;;
    --build) BUILD=$2 ;;
    --out) OUT=$2 ;;
  esac
}

# What was not chosen gets its default, which --quick changes.
fill_defaults() {
  if ((ROUNDS == 0)); then
    ROUNDS=11
    if [[ $IS_QUICK ]]; then ROUNDS=3; fi
  fi
  if ((${#ROWS[@]} == 0)); then read -ra ROWS <<<"$MACHINE_ROWS"; fi
  if [[ $AGAINST ]]; then ROWS+=(against); fi
}

# read_options <argument...>
read_options() {
  while (($# > 0)); do
    case $1 in
      --help | -h) usage; exit 0 ;;
      --quick) IS_QUICK=yes; shift ;;
      --rows | --against | --rounds | --seconds | --build | --out)
        [[ ${2:-} ]] || fail_usage "$1: wants a value"
        read_option "$1" "$2"
        shift 2
        ;;
      *) fail_usage "unknown argument: $1" ;;
    esac
  done
  fill_defaults
}
