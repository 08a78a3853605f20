# SPDX-License-Identifier: MIT
#
# Processes: starts servers, reads what they cost, and ends every one of them, whatever
# ends the run.  Owns WORK (a temporary folder), RUNNING (server -> pid), LOADING (the
# pid of wrk) and EXIT_CODE.
# shellcheck shell=bash disable=SC2034

readonly STOP_MS=5000 # then a server is killed

WORK=
LOADING=
EXIT_CODE=0
declare -A RUNNING=()

# tree_of <pid>: TREE gets it and all that descend from it.
tree_of() {
  TREE=()
  add_to_tree "$1"
}

add_to_tree() {
  local pid=$1 file child children
  TREE+=("$pid")
  for file in /proc/"$pid"/task/*/children; do
    children=
    { read -r children <"$file"; } 2>/dev/null
    for child in $children; do add_to_tree "$child"; done
  done
}

# cpu_ns_of <pid>: nanoseconds that all threads of the tree have run so far.
cpu_ns_of() {
  local pid files=()
  tree_of "$1"
  for pid in "${TREE[@]}"; do files+=(/proc/"$pid"/task/*/schedstat); done
  cat "${files[@]}" 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# memory_of <pid>: VmRSS and VmHWM of the tree, in KiB.
memory_of() {
  local pid files=()
  tree_of "$1"
  for pid in "${TREE[@]}"; do files+=("/proc/$pid/status"); done
  cat "${files[@]}" 2>/dev/null |
    awk '/^VmRSS:/ { rss += $2 } /^VmHWM:/ { hwm += $2 } END { print rss + 0, hwm + 0 }'
}

# A process that ended may not be collected yet: then its state is Z.
is_alive() {
  local line=
  { read -r line <"/proc/$1/stat"; } 2>/dev/null
  [[ $line && ${line##*) } != Z* ]]
}

# Milliseconds without a process of its own: nothing is ever written to the pipe.
nap_ms() {
  local seconds
  printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
  read -rt "$seconds" -u "$NAP" || true
}

is_taken() {
  (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# PORT gets one that nobody listens on, above the one before.
next_port() {
  ((++PORT))
  while is_taken "$PORT"; do ((++PORT)); done
}

# start <server> <command...>: in the background; its output goes to WORK.
start() {
  local server=$1
  shift
  "$@" >"$WORK/$server.log" 2>&1 </dev/null {NAP}>&- &
  RUNNING[$server]=$!
  disown "$!" # the shell says nothing when it ends, and need not be asked to wait
}

# await_end <server> <milliseconds>
await_end() {
  local left=$2
  while ((left > 0)) && is_alive "${RUNNING[$1]}"; do
    nap_ms 20
    ((left -= 20))
  done
}

# Prints when a process began, which tells it from a later one of the same pid.
birth_of() {
  local line=
  { read -r line <"/proc/$1/stat"; } 2>/dev/null
  read -ra line <<<"${line##*) }"
  echo "${line[19]:-gone}"
}

# stop <server>: asks it to end, and ends what is left of its tree after STOP_MS.
stop() {
  local pid=${RUNNING[$1]:-} member
  local -A births=()
  if [[ ! $pid ]]; then return 0; fi
  tree_of "$pid"
  for member in "${TREE[@]}"; do births[$member]=$(birth_of "$member"); done
  kill -TERM "$pid" 2>/dev/null
  await_end "$1" "$STOP_MS"
  for member in "${TREE[@]}"; do
    if [[ $(birth_of "$member") == "${births[$member]}" ]]; then
      kill -KILL "$member" 2>/dev/null
    fi
  done
  unset "RUNNING[$1]"
}

stop_all() {
  local server
  if [[ $LOADING ]]; then kill -TERM "$LOADING" 2>/dev/null; fi
  LOADING=
  for server in "${!RUNNING[@]}"; do stop "$server"; done
}

# The last loop is for one that a signal kept from being noted.
clean_up() {
  local pid
  trap '' INT TERM HUP
  stop_all
  tree_of $$
  for pid in "${TREE[@]:1}"; do kill -KILL "$pid" 2>/dev/null; done
  if [[ $WORK ]]; then rm -rf "$WORK"; fi
}

interrupted() {
  say "interrupted: ending all servers; no report"
  exit 130
}

# Makes WORK, and sees to it that all ends with this shell.
prepare_processes() {
  WORK=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXXXX") || exit 1
  trap clean_up EXIT
  trap interrupted INT TERM HUP
  mkfifo "$WORK/nap"
  exec {NAP}<>"$WORK/nap"
  PORT=18079
  if [[ ! -e /proc/self/schedstat || ! -e /proc/$$/task/$$/children ]]; then
    say "needs a Linux with /proc/PID/schedstat and /proc/PID/task/TID/children"
    exit "$WRONG_USAGE"
  fi
}
