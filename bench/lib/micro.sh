# SPDX-License-Identifier: MIT
#
# The rows that are not a path: start to first answer with memory at rest and under 256
# connections; the price of the dispatch into Lua and of a header; the router.
# Owns STARTS_FILE (server, round, microseconds, KiB at rest), HELD_FILE (server, RSS
# and its peak in KiB) and MICRO (row, size, variant, round, nanoseconds per request).
# shellcheck shell=bash disable=SC2034,SC2153

readonly HELD_CONNECTIONS=256
readonly MICRO_MS=15000 # then a program that measures itself is ended

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

# run_micro <script>: a program that measures itself, and ends; MEASURED gets its line.
run_micro() {
  MEASURED=
  start micro "$BUILD/luaweb" "$1"
  await_end micro "$MICRO_MS"
  read -r MEASURED <"$WORK/micro.log"
  stop micro
}

# run_dispatch <handlers> <variant> <round>
run_dispatch() {
  progress "dispatch, $1 handlers, $2: round $3 of $ROUNDS"
  run_micro bench/micro/dispatch.lua
  ((LOADS_DONE += 2)) # it takes as long
  if [[ ! $MEASURED =~ ^[0-9]+$ ]]; then
    fault "dispatch, $1 handlers, $2: $(tail -n 3 "$WORK/micro.log" | tr '\n' ' ')"
    return 1
  fi
  printf 'dispatch\t%d\t%s\t%d\t%d\n' "$@" "$MEASURED" >>"$MICRO"
}

# A process a round: what the JIT compiler makes of the handlers differs by run.
measure_dispatch() {
  local count round
  for count in "${HANDLERS[@]}"; do
    export BENCH_HANDLERS=$count
    for ((round = 1; round <= ROUNDS; round++)); do
      run_dispatch "$count" own "$round" || break
      BENCH_SHARED=yes run_dispatch "$count" shared "$round" || break
    done
  done
}

# take_headers <headers> <look-ups> <round>: long writes over few connections, so that
# the kernel's share is small and the same in all variants.  Round 0 warms up.
take_headers() {
  local count=$1 times=$2 round=$3
  progress "headers, $count, $times look-ups: round $round of $ROUNDS"
  if ! cost micro "$PORT" "/look/$times" 16 depth=32 "headers=$count"; then
    fault "headers, $count, $times look-ups: $(tail -n 1 "$WORK/wrk.log")"
    return
  fi
  if ((SAMPLE[6] + SAMPLE[7] > 0)); then
    fault "headers, $count, $times look-ups: ${SAMPLE[6]} socket errors," \
      "${SAMPLE[7]} wrong statuses"
  fi
  if ((round > 0)); then
    printf 'headers\t%d\t%s\t%d\t%d\n' "$count" "$times" "$round" \
      $((COST_NS / SAMPLE[0])) >>"$MICRO"
  fi
}

measure_headers() {
  local count round times workers
  read -ra workers < <(one_worker)
  next_port
  start micro "$BUILD/luaweb" bench/micro/headers.lua --listen "127.0.0.1:$PORT" \
    "${workers[@]}"
  if ! await micro "$PORT" /look/0; then
    fault "headers: did not start: $(tail -n 3 "$WORK/micro.log" | tr '\n' ' ')"
    stop micro
    return
  fi
  for count in 5 30; do
    for ((round = 0; round <= ROUNDS; round++)); do
      for times in 0 1 11; do take_headers "$count" "$times" "$round"; done
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
