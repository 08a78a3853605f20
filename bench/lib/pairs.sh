# SPDX-License-Identifier: MIT
#
# Pairs of servers that get the same octets in turn, round after round, and the time
# that an app takes to load.  Every round has processes of its own, since what the JIT
# compiler makes of a machine differs by run.  Owns SAMPLES (a file a row, as
# bench/lib/measure.sh writes it) and LOADED_APPS (a file: round, microseconds to run
# the script, to compile what it declared).
# shellcheck shell=bash disable=SC2034,SC2153

readonly PAIR_CONNECTIONS=64 LOADED_RESOURCES=1000 LOAD_BOUND_MS=300
readonly -a PAIR_DEPTHS=(1 16)

# row -> the first server, the second, the path, and the bound of their ratio (first to
# second) without pipelining and with it; - where there is none
declare -rA PAIRS=(
  [full]="full minimal /hello/fred 1.10 1.6"
  [greeter]="greeter minimal /hello/fred - -"
  [constant]="constant rawuv /constant - 1.15"
  [against]="minimal before /hello/fred - -"
)

# fields_of <row>: FIELDS gets the lines that its requests have besides Host.  Those of
# full pass all questions; the conditions do not match, so that there is an answer.
fields_of() {
  case $1 in
    full)
      FIELDS=(
        "Authorization: Basic YmVuY2g6c2VjcmV0"
        "Origin: http://example.com"
        "Accept: text/plain, text/markdown;q=0.5"
        "Accept-Language: en"
        "Accept-Charset: utf-8"
        "Accept-Encoding: gzip, identity;q=0.5"
        "If-None-Match: \"another\""
        "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT"
      )
      ;;
    greeter) FIELDS=("Authorization: Basic c3VwZXJVc2VyOnN1cGVyUGFzc3dvcmQ=") ;;
    *) FIELDS=() ;;
  esac
}

# prepare_server <server> <path>: it runs, gives the right answer, and is warm.  The
# floor knows one answer, whatever it is asked.
prepare_server() {
  start_peer "$1" "$2" || return 1
  if [[ $1 != raw* ]]; then
    check_answer "$1" "${PORTS[$1]}" "$2" "${FIELDS[@]}" || return 1
  fi
  warm_up "$1" "$2" || true # the loads to come say what is wrong
}

# measure_round <round> <path> <server> <server>: fails where one of them can't serve.
measure_round() {
  local round=$1 path=$2 server depth code=0
  shift 2
  for server in "$@"; do
    if ! prepare_server "$server" "$path"; then
      code=1
      break
    fi
  done
  if ((code == 0)); then
    for depth in "${PAIR_DEPTHS[@]}"; do
      take_rounds "$round" "$round" "$path" "$PAIR_CONNECTIONS" "$depth" "$@"
    done
  fi
  for server in "$@"; do stop "$server"; done
  return "$code"
}

# measure_pair <row>
measure_pair() {
  local first second path round
  read -r first second path _ <<<"${PAIRS[$1]}"
  fields_of "$1"
  SAMPLES=$WORK/samples.$1
  for ((round = 1; round <= ROUNDS; round++)); do
    measure_round "$round" "$path" "$first" "$second" || break
  done
}

measure_load() {
  local round
  export BENCH_RESOURCES=$LOADED_RESOURCES BENCH_APP=$WORK/app.lua
  for ((round = 1; round <= ROUNDS; round++)); do
    progress "an app of $BENCH_RESOURCES resources: round $round of $ROUNDS"
    run_micro bench/micro/load_app.lua
    if [[ ! $MEASURED =~ ^[0-9]+' '[0-9]+$ ]]; then
      fault "load: $(tail -n 3 "$WORK/micro.log" | tr '\n' ' ')"
      return
    fi
    printf '%d\t%s\n' "$round" "${MEASURED/ /$'\t'}" >>"$LOADED_APPS"
  done
}
