# SPDX-License-Identifier: MIT
#
# B15: what a handler costs inside a server.  A run is a server of its own on one core,
# warmed up and then loaded by wrk with 16 requests a write; its operations are the
# requests, its seconds the CPU time of the server.
# shellcheck shell=bash disable=SC2034,SC2153

readonly SERVER_CONNECTIONS=64 SERVER_DEPTH=16
LOAD_SECONDS=1

# app_of <case>: the app that has the path of that name.
app_of() {
  if [[ $1 == B15-empty ]]; then echo empty; else echo scoped; fi
}

# serves <path>: the server is up, and its answer is right.
serves() {
  await server "$PORT" "$1" && [[ $CONTENT == ok ]]
}

# load_server <path>: COST_NS and SAMPLE get what a load took.
load_server() {
  load "$PORT" "$1" "$SERVER_CONNECTIONS" "depth=$SERVER_DEPTH" &&
    cost server "$PORT" "$1" "$SERVER_CONNECTIONS" "depth=$SERVER_DEPTH" &&
    ((SAMPLE[6] + SAMPLE[7] == 0))
}

# take_server <case> <side> <round>
take_server() {
  local name=$1 side=$2 path=/${1#B15-} jit=on kib
  if [[ $side == luaweb-off ]]; then jit=off; fi
  next_port
  start server env "BENCH_JIT=$jit" "${PIN[@]}" "$BUILD/luaweb" \
    "$FOLDER/apps/$(app_of "$name").lua" --listen "127.0.0.1:$PORT" --workers 1
  if ! serves "$path"; then
    fail_case "$name" "$side" "$(tail -n 3 "$WORK/server.log" | tr '\n' ' ')"
  elif ! load_server "$path"; then
    fail_case "$name" "$side" "errors under load: $(tail -n 1 "$WORK/wrk.log")"
  else
    read -r _ kib < <(memory_of "${RUNNING[server]}")
    note "$name" "$side" "$3" "${SAMPLE[0]}" \
      "$(awk -v ns="$COST_NS" 'BEGIN { printf "%.6f", ns / 1e9 }')" "$kib" ""
  fi
  stop server
}
