# SPDX-License-Identifier: MIT
#
# For the scripts of this folder, which source it: a server, clients, what /proc tells of
# the server, and the rows that are printed.  Everything that was started is ended by its
# pid.  `failed` is the exit code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly BUILD=${LUAWEB_BUILD:-build}
readonly PATIENCE=60 # seconds, for whatever is waited for
failed=0
server=
name=$(basename "$0")

fail() {
  echo "$name: $*" >&2
  exit 2
}

command -v curl >/dev/null || fail "needs curl (core/install-packages --test)"
[[ -x $BUILD/luaweb ]] || fail "there is no $BUILD/luaweb: build it first"
ulimit -n "$(ulimit -Hn)"

FOLDER=$(mktemp -d)
readonly FOLDER

# The workers of the server, or of another master: their pids.
workers() {
  local pid=${1:-$server}
  cat "/proc/$pid/task/$pid/children" 2>/dev/null || true
}

# The first one, which is the only one unless `serve` was told otherwise.
worker() {
  local list
  read -ra list <<<"$(workers)"
  echo "${list[0]:-0}"
}

end_server() {
  local pids
  if [[ $server ]]; then
    read -ra pids <<<"$(workers)"
    kill -KILL "$server" "${pids[@]}" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  server=
}

end_client() {
  if [[ ${CLIENT_PID:-} ]]; then
    kill -KILL "$CLIENT_PID" 2>/dev/null || true
    wait "$CLIENT_PID" 2>/dev/null || true
  fi
}

clean() {
  end_client
  end_server
  rm -rf "$FOLDER"
}
trap clean EXIT

# serve [flags...]: one worker, unless they say more; what it logs goes to $FOLDER/log.
# SERVER_LIMIT: its ulimit -n.  SERVER_APP, SERVER_BINARY: others than ours.
serve() {
  local line
  rm -f "$FOLDER/said"
  mkfifo "$FOLDER/said"
  (
    if [[ ${SERVER_LIMIT:-} ]]; then ulimit -n "$SERVER_LIMIT"; fi
    exec "${SERVER_BINARY:-$BUILD/luaweb}" "${SERVER_APP:-spec/faults/app.lua}" --listen 127.0.0.1:0 \
      --workers 1 "$@"
  ) >"$FOLDER/said" 2>"$FOLDER/log" &
  server=$!
  exec 3<"$FOLDER/said"
  read -r -t 10 line <&3 || fail "the server did not start: $(cat "$FOLDER/log")"
  export FAULTS_PORT=${line##*:}
}

ask() {
  curl --silent --show-error --fail --max-time 20 "http://127.0.0.1:$FAULTS_PORT$1"
}

# client <what> <count>: runs beside us; hear and tell talk to it.
client() {
  export FAULTS_DO=$1 FAULTS_COUNT=$2
  coproc CLIENT { exec "$BUILD/luaweb" routes spec/faults/client.lua; }
}

# hear: the next line of the client, in $heard.
hear() {
  read -r -t "$PATIENCE" heard <&"${CLIENT[0]}" || fail "the client said nothing more"
}

tell() {
  echo >&"${CLIENT[1]}"
}

# What the server holds and has used ---------------------------------------------------

status() { # status <name>: KiB
  awk -v name="$1:" '$1 == name { print $2 }' "/proc/$(worker)/status"
}

descriptors() {
  local list=("/proc/$(worker)/fd"/*)
  echo "${#list[@]}"
}

cpu_ms() {
  local text
  text=$(<"/proc/$(worker)/stat")
  awk -v hz="$(getconf CLK_TCK)" '{ print ($12 + $13) * 1000 / hz }' <<<"${text##*)}"
}

new_peak() { # the peak (VmHWM) starts anew
  echo 5 >"/proc/$(worker)/clear_refs" || true
}

# within <seconds> <command...>: how many milliseconds it took to come true; "never"
within() {
  local latest began now
  began=$(date +%s%3N)
  latest=$((began + $1 * 1000))
  shift
  until "$@"; do
    now=$(date +%s%3N)
    if ((now > latest)); then
      echo never
      return
    fi
    sleep 0.02
  done
  echo $(($(date +%s%3N) - began))
}

# Rows ---------------------------------------------------------------------------------

# row <what> <value> <unit> [<relation> <bound>]: relation is < or > or =
row() {
  local verdict="" wanted=""
  if (($# > 3)); then
    wanted="$4 $5"
    awk -v value="$2" -v relation="$4" -v bound="$5" 'BEGIN {
      if (value !~ /^-?[0-9.]+$/) exit 1
      if (relation == "<") exit !(value + 0 < bound + 0)
      if (relation == ">") exit !(value + 0 > bound + 0)
      exit !(value + 0 == bound + 0) }' || verdict=FAILED
  fi
  if [[ $verdict ]]; then failed=1; fi
  printf '%-18s %-44s %10s %-6s %-10s %s\n' "$name" "$1" "$2" "$3" "$wanted" "$verdict"
}

# figure <number>: with two digits behind the point
figure() {
  printf '%.2f' "$1"
}
