# SPDX-License-Identifier: MIT
#
# The command line of bench/run: what may be chosen, the defaults, and the help text.
# Owns ROWS, SERVERS, CONNECTIONS, DEPTHS, HANDLERS (lists), ROUNDS, EXTRA_ROUNDS,
# STARTS, LOAD_SECONDS, BUILD and OUT.
# shellcheck shell=bash disable=SC2034

readonly PATHS="/plaintext /json /hello /hello/fred /missing"
readonly EXTRAS="start dispatch headers router"
readonly ALL_SERVERS="luaweb rawepoll rawuv nginx nginx-lua h2o lighttpd node"

ROWS=()
SERVERS=()
CONNECTIONS=()
DEPTHS=()
HANDLERS=(1 10 100 1000)
ROUNDS=0
EXTRA_ROUNDS=6
STARTS=5
LOAD_SECONDS=1
BUILD=build
OUT=bench/report.md
IS_QUICK=
IS_FULL=

usage() {
  cat <<TEXT
usage: bench/run [option ...]

Measures luaweb next to two floors (servers that parse nothing) and to other servers.
All of them run with one worker; wrk loads them in turn on 127.0.0.1. Prints a report
in Markdown and writes it to a file. Installs nothing: what is missing is left out and
named.

  --rows LIST         of: ${PATHS// /, },
                      ${EXTRAS// /, } (default: all)
  --servers LIST      of: ${ALL_SERVERS// /, }
                      (default: all; luaweb always takes part)
  --connections LIST  default 64
  --depths LIST       requests of one write: 1 is no pipelining (default 1,16)
  --rounds N          of each load, each server once a round: N and no more (default 5,
                      and 6 more where a median ratio to luaweb is within 10 % of 1)
  --seconds N         of one load, a whole number (default 1)
  --full              64 and 256 connections (about 20 minutes, else about 10)
  --quick             a smoke test: one path, 3 rounds, few handlers (2 minutes)
  --build DIR         where luaweb and the floors were built (default build)
  --out FILE          the report (default bench/report.md)
  --help              this text

Examples
  bench/run                                      the default selection
  bench/run --quick --out /tmp/report.md
  bench/run --servers luaweb,rawuv --rows /hello/fred --connections 64
  bench/run --rows dispatch,headers,router       the micro rows alone
  bench/run --full --seconds 2 --servers luaweb,nginx-lua

The floors and the router's row want
  cmake -B build -DLUAWEB_BENCH=ON && cmake --build build -j

Exit codes: 0 done (also where a peer is missing); 1 a wrong answer, or errors under
load; 2 luaweb or wrk is missing, or wrong usage; 130 interrupted.
TEXT
}

# read_option <option> <value>
read_option() {
  case $1 in
    --rows) read_words "$1" "$2" "$PATHS $EXTRAS"; ROWS=("${WORDS[@]}") ;;
    --servers) read_words "$1" "$2" "$ALL_SERVERS"; SERVERS=("${WORDS[@]}") ;;
    --connections) read_numbers "$1" "$2" 512; CONNECTIONS=("${WORDS[@]}") ;;
    --depths) read_numbers "$1" "$2" 64; DEPTHS=("${WORDS[@]}") ;;
    --rounds) read_number "$1" "$2" 101; ROUNDS=$NUMBER EXTRA_ROUNDS=0 ;;
    --seconds) read_number "$1" "$2" 60; LOAD_SECONDS=$NUMBER ;;
    --build) BUILD=$2 ;;
    --out) OUT=$2 ;;
  esac
}

# What was not chosen gets its default, which --quick and --full change.
fill_defaults() {
  if [[ $IS_QUICK ]]; then
    HANDLERS=(1 1000)
    STARTS=3
    if ((ROUNDS == 0)); then ROUNDS=3 EXTRA_ROUNDS=0; fi
    if ((${#ROWS[@]} == 0)); then read -ra ROWS <<<"/hello/fred $EXTRAS"; fi
  fi
  if ((ROUNDS == 0)); then ROUNDS=5; fi
  if ((${#ROWS[@]} == 0)); then read -ra ROWS <<<"$PATHS $EXTRAS"; fi
  if ((${#SERVERS[@]} == 0)); then read -ra SERVERS <<<"$ALL_SERVERS"; fi
  if [[ " ${SERVERS[*]} " != *" luaweb "* ]]; then SERVERS=(luaweb "${SERVERS[@]}"); fi
  if ((${#CONNECTIONS[@]} == 0)); then
    CONNECTIONS=(64)
    if [[ $IS_FULL ]]; then CONNECTIONS=(64 256); fi
  fi
  if ((${#DEPTHS[@]} == 0)); then DEPTHS=(1 16); fi
}

# read_options <argument...>
read_options() {
  while (($# > 0)); do
    case $1 in
      --help | -h) usage; exit 0 ;;
      --quick) IS_QUICK=yes; shift ;;
      --full) IS_FULL=yes; shift ;;
      --rows | --servers | --connections | --depths | --rounds | --seconds | --build | \
        --out)
        [[ ${2:-} ]] || fail_usage "$1: wants a value"
        read_option "$1" "$2"
        shift 2
        ;;
      *) fail_usage "unknown argument: $1" ;;
    esac
  done
  fill_defaults
}
