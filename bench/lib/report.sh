# SPDX-License-Identifier: MIT
#
# The report: what was measured with, how to read it, the tables, what was left out and
# what went wrong.  Names the machine's hardware and software, never the machine.
# shellcheck shell=bash disable=SC2034,SC2153

cpu_model() {
  sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1
}

# build_note <server>: what makes the figures of its build say little.
build_note() {
  local cache=$BUILD/CMakeCache.txt
  if [[ $1 == before ]]; then cache=${AGAINST%/*}/CMakeCache.txt; fi
  if grep -q '^LUAWEB_SANITIZE:BOOL=ON' "$cache" 2>/dev/null; then
    echo " **with sanitizers: its figures mean nothing**"
  fi
  sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=\(.\)/ \1/p' "$cache" 2>/dev/null
}

# A command as anyone may repeat it: without the folder of the run.
public_command() {
  local text=${1//"$WORK"/\$WORK}
  echo "${text//"$PWD/"/}"
}

# print_circumstances <title>
print_circumstances() {
  cat <<TEXT
# $1

- Date: $(date -u '+%Y-%m-%d %H:%M UTC'); load average at the start: $LOAD_AT_START
- CPU: $(cpu_model), $(nproc) cores
- Kernel: $(uname -sr)
- Command: \`$PROGRAM${ARGUMENTS:+ $ARGUMENTS}\`
TEXT
}

# print_servers <server...>
print_servers() {
  local server version
  for server in "$@"; do
    version=$(version_of "$server")
    printf -- '- **%s**: %s' "${TITLES[$server]}" "$version"
    if [[ $version == luaweb* ]]; then printf '%s' "$(build_note "$server")"; fi
    if [[ ${COMMANDS[$server]:-} ]]; then
      # shellcheck disable=SC2016
      printf ': `%s`' "$(public_command "${COMMANDS[$server]}")"
    fi
    echo
  done
  echo
}

print_setting() {
  print_circumstances "Benchmark of luaweb"
  cat <<TEXT
- Load: $(wrk -v 2>&1 | sed -n '1s/ Copyright.*//p'), one thread, loopback:
  \`BENCH_CONNECTIONS=64 wrk -t1 -c64 -d${LOAD_SECONDS}s --timeout 5s
  -s bench/load/requests.lua URL -- depth=16\`

TEXT
  print_servers "${SERVERS[@]}"
}

print_reading() {
  cat <<'TEXT'
## How to read it

One worker each. The servers of a row are loaded in turn, round after round; each figure
is the median of the rounds (least–greatest). *To luaweb* is the server's figure divided
by luaweb's of the same round: above 1, the server costs (or answers) more. Where luaweb
itself lies within that spread, the difference is **unknown**. *CPU µs/request* is the
time that all processes of the server ran, user and kernel
(`/proc/PID/task/*/schedstat`), divided by the requests answered; *busy* is the same by
the seconds of the load: far below 100 %, wrk was the limit and requests/s says little.
Requests in flight at the end of a load are paid for, but not counted. Latencies are
those that wrk measured, without those that it adds for requests it did not send; with
pipelining, of a whole write. RSS is the sum over the server's processes, at the end of
a load and at most. Errors are those of sockets and answers with a wrong status. The
floors parse nothing and always send the same 140 octets, so they take part in
/hello/fred only.

TEXT
}

# print_list <title> <entry...>
print_list() {
  local title=$1
  shift
  if (($# == 0)); then return; fi
  printf '## %s\n\n' "$title"
  printf -- '- %s\n' "$@"
  echo
}

titles() {
  local server
  for server in "${!TITLES[@]}"; do
    printf '%s=%s;' "$server" "${TITLES[$server]}"
  done
}

tables() {
  awk -f bench/lib/median.awk -f bench/lib/table.awk -f bench/lib/titles.awk \
    -v titles="$(titles)" "$@"
}

print_router() {
  if [[ -s $ROUTER ]]; then
    # shellcheck disable=SC2016
    printf '## Router\n\n```\n%s\n```\n\n' "$(<"$ROUTER")"
  fi
}

print_report() {
  print_setting
  print_reading
  tables -f bench/lib/cells.awk "$SAMPLES"
  tables -f bench/lib/starts.awk -v held="$HELD_FILE" "$STARTS_FILE"
  tables -f bench/lib/micro.awk "$MICRO"
  print_router
  print_list "Left out" "${LEFT_OUT[@]}"
  print_list "Faults" "${FAULTS[@]}"
}

# write_report <function that prints it>
write_report() {
  "$1" >"$WORK/report.md"
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  cat "$WORK/report.md"
  if ! cp "$WORK/report.md" "$OUT"; then
    EXIT_CODE=1
    return
  fi
  say "wrote $OUT after $SECONDS s"
}
