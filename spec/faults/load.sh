# SPDX-License-Identifier: MIT
#
# For scripts that need a server under load: wrk, what came of its requests, and the
# connections that are open.  Sourced after lib.sh.
# shellcheck shell=bash

readonly CONNECTIONS=64
loading=

command -v wrk >/dev/null || fail "needs wrk (Debian: wrk)"

end_load() {
  if [[ $loading ]]; then
    kill -KILL "$loading" 2>/dev/null || true
    wait "$loading" 2>/dev/null || true
  fi
  loading=
}
trap "end_load; clean" EXIT

# load <seconds> [<target>]: in the background, and waits until all connections are open.
load() {
  wrk -t1 -c$CONNECTIONS -d"$1" "http://127.0.0.1:$FAULTS_PORT${2:-/}" \
    >"$FOLDER/wrk" 2>&1 &
  loading=$!
  within 5 are_open >/dev/null
}

await_load() {
  wait "$loading" || true
  loading=
}

# What wrk says after await_load: its requests, those that failed (an error of the
# connection), and those that were answered otherwise than with success.
requests() {
  awk '/requests in/ { print $1 }' "$FOLDER/wrk"
}

failures() {
  awk '/Socket errors/ { gsub(",", ""); n = $4 + $6 + $8 + $10 } END { print n + 0 }' \
    "$FOLDER/wrk"
}

refusals() {
  awk '/Non-2xx/ { n = $NF } END { print n + 0 }' "$FOLDER/wrk"
}

# The client's ends of the connections that are open, as /proc names them.
open_ends() {
  awk -v port="$(printf '%04X' "$FAULTS_PORT")" '
    $4 == "01" && substr($3, 10) == port { print $2 }' /proc/net/tcp | sort
}

are_open() {
  (($(open_ends | wc -l) >= CONNECTIONS))
}

# connections <pid>: that it holds, with a few sockets of its own.
connections() {
  ls -l "/proc/$1/fd" 2>/dev/null | grep -c "socket:" || true
}

# Whether two workers have nearly as many as each other: then nobody sheds any.
are_even() {
  local list more
  read -ra list <<<"$(workers)"
  more=$(($(connections "${list[0]}") - $(connections "${list[1]:-0}")))
  ((${#list[@]} == 2 && more < 8 && more > -8))
}

# How many of those that were open (a file of open_ends) are not any more.
closed_since() {
  comm -23 "$1" <(open_ends) | wc -l
}

# How often the log has a line like that.
logged() {
  grep -c -- "$1" "$FOLDER/log" || true
}
