# SPDX-License-Identifier: MIT
#
# The report of bench/machines: what was measured with, the requests, how to read it,
# the tables, what was left out and what went wrong.
# shellcheck shell=bash disable=SC2153

# Those that ran, in the order of the rows.
servers_of_rows() {
  local row server first second
  for row in "${ROWS[@]}"; do
    if [[ $row == load ]]; then continue; fi
    read -r first second _ <<<"${PAIRS[$row]}"
    for server in "$first" "$second"; do
      if [[ ${COMMANDS[$server]:-} ]]; then echo "$server"; fi
    done
  done | awk '!seen[$0]++'
}

print_machines_setting() {
  local servers
  mapfile -t servers < <(servers_of_rows)
  print_circumstances "Benchmark of luaweb's machines"
  cat <<TEXT
- Load: $(wrk -v 2>&1 | sed -n '1s/ Copyright.*//p'), one thread, loopback:
  \`BENCH_CONNECTIONS=$PAIR_CONNECTIONS wrk -t1 -c$PAIR_CONNECTIONS -d${LOAD_SECONDS}s
  --timeout 5s -s bench/load/requests.lua URL -- depth=16 'field=NAME: VALUE' ...\`
- This build: $("$BUILD/luaweb" --version)$(build_note luaweb)

TEXT
  if ((${#servers[@]} > 0)); then print_servers "${servers[@]}"; fi
}

# The octets that both servers of a row get, but for the port.
print_requests() {
  local row path
  if [[ ${ROWS[*]} == load ]]; then return; fi
  printf '## Requests\n\n'
  for row in "${ROWS[@]}"; do
    if [[ $row == load ]]; then continue; fi
    read -r _ _ path _ <<<"${PAIRS[$row]}"
    fields_of "$row"
    # shellcheck disable=SC2016
    printf '%s:\n\n```http\nGET %s HTTP/1.1\nHost: 127.0.0.1:PORT\n' "$row" "$path"
    if ((${#FIELDS[@]} > 0)); then printf '%s\n' "${FIELDS[@]}"; fi
    # shellcheck disable=SC2016
    printf '\n```\n\n'
  done
}

print_machines_reading() {
  cat <<'TEXT'
## How to read it

Both servers of a pair get the same octets in turn: first, second, first, second. Each
round has processes of its own, which are warmed up before; each figure is the median of
the rounds (least–greatest). *CPU µs/request* is the time that all threads of the server
ran, user and kernel (`/proc/PID/task/*/schedstat`), divided by the requests answered.
*First to second* is the ratio of these, round by round; where 1 lies within the spread,
the difference is **unknown**. *Bound* is what the ratio should not exceed, and in how
many rounds it did not. *Busy* is the server's share of a core, first and second: far
below 100 %, wrk was the limit and requests/s says little. Requests in flight at the end
of a load are paid for, but not counted. Errors are those of sockets and answers with a
wrong status. The floor parses nothing and always sends the same 140 octets. Loading is
CPU time: to read and run the script, then to fold and compile the machines of all its
resources.

TEXT
}

print_pairs() {
  local row list='' files=()
  for row in "${ROWS[@]}"; do
    if [[ -s $WORK/samples.$row ]]; then
      list+="$row ${PAIRS[$row]};"
      files+=("$WORK/samples.$row")
    fi
  done
  if ((${#files[@]} > 0)); then
    tables -f bench/lib/pairs.awk -v pairs="${list%;}" "${files[@]}"
  fi
}

print_machines_report() {
  print_machines_setting
  print_requests
  print_machines_reading
  print_pairs
  tables -f bench/lib/load_app.awk -v resources="$LOADED_RESOURCES" \
    -v bound="$LOAD_BOUND_MS" "$LOADED_APPS"
  print_list "Left out" "${LEFT_OUT[@]}"
  print_list "Faults" "${FAULTS[@]}"
}
