# SPDX-License-Identifier: MIT
#
# The rows that are not a path: start to first answer with memory at rest and under 256
# connections; the price of the dispatch into Lua and of a header; the router.
# Owns STARTS_FILE (server, round, microseconds, KiB at rest), HELD_FILE (server, RSS
# and its peak in KiB) and MICRO (row, size, variant, round, nanoseconds per request).
# shellcheck shell=bash disable=SC2034,SC2153

readonly HELD_CONNECTIONS=256

# A server is started anew STARTS times; the last one is also put under load.
measure_starts() {
  local server round began
  for server in "${SERVERS[@]}"; do
    for ((round = 1; round <= STARTS; round++)); do
      progress "start to first answer: $server, $round of $STARTS"
      next_port
      command_of "$server" "$PORT"
      began=${EPOCHREALTIME/./}
      start "$server" "${COMMAND[@]}"
      if ! await "$server" "$PORT" /hello/fred; then
        fault "$server: did not start: $(tail -n 3 "$WORK/$server.log" | tr '\n' ' ')"
        stop "$server"
        break
      fi
      printf '%s\t%d\t%d\t' "$server" "$round" $((${EPOCHREALTIME/./} - began))
      memory_of "${RUNNING[$server]}" | cut -d' ' -f1
      if ((round == STARTS)); then hold_connections "$server"; fi
      stop "$server"
    done
  done >>"$STARTS_FILE"
}

hold_connections() {
  progress "memory with $HELD_CONNECTIONS connections: $1"
  WATCHED=${RUNNING[$1]}
  if load "$PORT" /hello/fred "$HELD_CONNECTIONS"; then
    printf '%s\t%s\n' "$1" "${MEMORY// /$'\t'}" >>"$HELD_FILE"
  fi
  WATCHED=
}

# start_micro <app> <path>: luaweb alone, with an app of bench/micro.
start_micro() {
  local workers
  read -ra workers < <(one_worker)
  next_port
  start micro "$BUILD/luaweb" "$1" --listen "127.0.0.1:$PORT" "${workers[@]}"
  if await micro "$PORT" "$2"; then return 0; fi
  fault "$1: did not start: $(tail -n 3 "$WORK/micro.log" | tr '\n' ' ')"
  stop micro
  return 1
}

# take_micro <row> <size> <variant> <round> <path> <key=value...>: long writes over few
# connections, so that the kernel's share is small and the same in all variants.
take_micro() {
  local row=$1 size=$2 variant=$3 round=$4 path=$5
  shift 5
  progress "$row, $size, $variant: round $round of $ROUNDS"
  if ! cost micro "$PORT" "$path" 16 depth=32 "$@"; then
    fault "$row, $size, $variant: no answers"
    return
  fi
  if ((SAMPLE[6] + SAMPLE[7] > 0)); then
    fault "$row, $size, $variant: ${SAMPLE[6]} socket errors, ${SAMPLE[7]} statuses"
  fi
  if ((round > 0)); then
    printf '%s\t%d\t%s\t%d\t%d\n' "$row" "$size" "$variant" "$round" \
      $((COST_NS / SAMPLE[0])) >>"$MICRO"
  fi
}

# Round 0 warms up.
measure_dispatch() {
  local count round method
  for count in "${HANDLERS[@]}"; do
    export BENCH_HANDLERS=$count
    start_micro bench/micro/dispatch.lua /r/1 || continue
    for ((round = 0; round <= ROUNDS; round++)); do
      for method in GET OPTIONS; do
        take_micro dispatch "$count" $method "$round" / \
          "method=$method" "routes=$count"
      done
    done
    stop micro
  done
}

measure_headers() {
  local count round times
  start_micro bench/micro/headers.lua /look/0 || return
  for count in 5 30; do
    for ((round = 0; round <= ROUNDS; round++)); do
      for times in 0 1 11; do
        take_micro headers "$count" "$times" "$round" "/look/$times" "headers=$count"
      done
    done
  done
  stop micro
}

# The router's own program: what it prints goes into the report as it is.
measure_router() {
  progress "router"
  if [[ ! -x $BUILD/router_bench ]]; then
    leave_out "router: needs $BUILD/router_bench (build with -DLUAWEB_BENCH=ON)"
    return
  fi
  if ! timeout 120 "$BUILD/router_bench" >"$ROUTER" 2>&1 </dev/null; then
    fault "router_bench: $(tail -n 1 "$ROUTER")"
  fi
}
