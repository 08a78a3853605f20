# SPDX-License-Identifier: MIT
#
# Loads and samples.  A cell is a path, a count of connections and a depth; its servers
# are loaded in turn, round after round.  Owns SAMPLES (a file, one line a load: path,
# connections, depth, round, server, requests, microseconds, CPU nanoseconds, p50, p75,
# p90, p99 in microseconds, RSS and its peak in KiB, socket errors, wrong answers),
# ACTIVE (the servers that run), PORTS and COMMANDS (by server) and FIELDS (lines that
# every request has besides Host).
# shellcheck shell=bash disable=SC2034,SC2153

declare -A PORTS=() COMMANDS=()
ACTIVE=()
FIELDS=()

# load <port> <path> <connections> <key=value...>: one run of wrk; SAMPLE gets requests,
# microseconds, four percentiles, socket errors, statuses above 399.  Fails without any
# answer.
load() {
  local url=http://127.0.0.1:$1$2 connections=$3
  shift 3
  BENCH_CONNECTIONS=$connections timeout $((LOAD_SECONDS + 15)) \
    wrk -t1 -c"$connections" -d"${LOAD_SECONDS}s" --timeout 5s \
    -s bench/load/requests.lua "$url" -- "$@" \
    >"$WORK/wrk.log" 2>&1 </dev/null {NAP}>&- &
  LOADING=$!
  if [[ ${WATCHED:-} ]]; then
    nap_ms 600
    MEMORY=$(memory_of "$WATCHED")
  fi
  wait "$LOADING"
  LOADING=
  ((++LOADS_DONE))
  SAMPLE=()
  read -ra SAMPLE < <(sed -n 's/^sample\t//p' "$WORK/wrk.log")
  nap_ms 50 # the server closes its connections
  ((${#SAMPLE[@]} == 8 && SAMPLE[0] > 0))
}

# cost <server> <port> <path> <connections> <key=value...>: a load; COST_NS gets what
# the server's processes ran meanwhile.
cost() {
  local pid=${RUNNING[$1]} before
  shift
  before=$(cpu_ns_of "$pid")
  if ! load "$@"; then
    COST_NS=0
    return 1
  fi
  COST_NS=$(($(cpu_ns_of "$pid") - before))
}

# drop_dead <server>: one that ended under load is out; fails where it lives.
drop_dead() {
  if is_alive "${RUNNING[$1]}"; then return 1; fi
  fault "$1: ended under load: $(tail -n 3 "$WORK/$1.log" | tr '\n' ' ')"
  unset "RUNNING[$1]"
}

# take_sample <round> <server> <path> <connections> <depth>
take_sample() {
  local round=$1 server=$2 path=$3 connections=$4 depth=$5 code=0 wrong rss peak
  if [[ ! ${RUNNING[$server]:-} ]]; then return; fi
  progress "$path, $connections connections, depth $depth: round $round, $server"
  cost "$server" "${PORTS[$server]}" "$path" "$connections" "depth=$depth" \
    "${FIELDS[@]/#/field=}" || code=1
  if drop_dead "$server"; then return; fi
  if ((code != 0)); then
    fault "$server: too few answers: $path, $connections connections, depth $depth:" \
      "$(tail -n 1 "$WORK/wrk.log")"
    return
  fi
  wrong=${SAMPLE[7]}
  if [[ $path == /missing ]]; then wrong=$((SAMPLE[0] - SAMPLE[7])); fi
  read -r rss peak < <(memory_of "${RUNNING[$server]}")
  if ((SAMPLE[6] + wrong > 0)); then
    fault "$server: $path, $connections connections, depth $depth:" \
      "${SAMPLE[6]} socket errors, $wrong wrong statuses"
  fi
  printf '%s\t' "$path" "$connections" "$depth" "$round" "$server" "${SAMPLE[0]}" \
    "${SAMPLE[1]}" "$COST_NS" "${SAMPLE[@]:2:4}" "$rss" "$peak" "${SAMPLE[6]}" \
    >>"$SAMPLES"
  echo "$wrong" >>"$SAMPLES"
}

# take_rounds <first> <last> <path> <connections> <depth> <server...>
take_rounds() {
  local round first=$1 last=$2 cell=("${@:3:3}") server
  shift 5
  for ((round = first; round <= last; round++)); do
    for server in "$@"; do take_sample "$round" "$server" "${cell[@]}"; done
  done
}

# measure_cell <path> <connections> <depth> <server...>: more rounds for those that come
# out close to luaweb.
measure_cell() {
  local cell=("${@:1:3}") near
  take_rounds 1 "$ROUNDS" "$@"
  if ((EXTRA_ROUNDS == 0)); then return; fi
  read -ra near < <(awk -f bench/lib/median.awk -f bench/lib/near.awk -v path="$1" \
    -v connections="$2" -v depth="$3" "$SAMPLES")
  if ((${#near[@]} == 0)); then return; fi
  ((LOADS_PLANNED += EXTRA_ROUNDS * (${#near[@]} + 1)))
  take_rounds $((ROUNDS + 1)) $((ROUNDS + EXTRA_ROUNDS)) "${cell[@]}" \
    luaweb "${near[@]}"
}

# warm_up <server> <path>
warm_up() {
  progress "$2: warming up $1"
  load "${PORTS[$1]}" "$2" 64 depth=16 "${FIELDS[@]/#/field=}"
}

# measure_path <path>: checks the answers, warms up, then all cells.
measure_path() {
  local path=$1 server connections depth ready=()
  for server in "${ACTIVE[@]}"; do
    if [[ ${RUNNING[$server]:-} ]] && answers_path "$server" "$path" &&
      check_answer "$server" "${PORTS[$server]}" "$path"; then
      ready+=("$server")
    fi
  done
  [[ " ${ready[*]} " == *" luaweb "* ]] || return
  for server in "${ready[@]}"; do warm_up "$server" "$path"; done
  for connections in "${CONNECTIONS[@]}"; do
    for depth in "${DEPTHS[@]}"; do
      measure_cell "$path" "$connections" "$depth" "${ready[@]}"
    done
  done
}

# start_peer <server> <path>: up and answering; else it is out, with the end of what it
# said.
start_peer() {
  next_port
  command_of "$1" "$PORT"
  start "$1" "${COMMAND[@]}"
  PORTS[$1]=$PORT COMMANDS[$1]=${COMMAND[*]}
  if await "$1" "$PORT" "$2" "${FIELDS[@]}"; then return 0; fi
  fault "$1: did not start: $(tail -n 3 "$WORK/$1.log" | tr '\n' ' ')"
  stop "$1"
  return 1
}

# measure_paths <path...>: all servers run; those that do not get load cost nothing.
measure_paths() {
  local server path
  for server in "${SERVERS[@]}"; do
    if start_peer "$server" /hello/fred; then ACTIVE+=("$server"); fi
  done
  if [[ " ${ACTIVE[*]} " == *" luaweb "* ]]; then
    for path in "$@"; do measure_path "$path"; done
  fi
  for server in "${ACTIVE[@]}"; do stop "$server"; done
}
