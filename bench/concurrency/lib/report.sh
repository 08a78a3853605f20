# SPDX-License-Identifier: MIT
#
# The report: what was measured with, how to read it, the tables, what was left out and
# what went wrong; and the same as JSON.
# shellcheck shell=bash disable=SC2153

cpu_model() {
  sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1
}

# build_note: what makes the figures of this build say little.
build_note() {
  if grep -q '^LUAWEB_SANITIZE:BOOL=ON' "$BUILD/CMakeCache.txt" 2>/dev/null; then
    echo " **with sanitizers: its figures mean nothing**"
  fi
}

# The circumstances, one a line, as name=text; the load is that of the start.
circumstances() {
  local side versions=()
  for side in "${SIDES[@]}"; do
    if [[ $side != luaweb-off ]]; then versions+=("$(version_of "$side")"); fi
  done
  printf '%s=%s\n' date "$(date -u '+%Y-%m-%d %H:%M UTC')" \
    load "$LOAD_AT_START" \
    cpu "$(cpu_model), $(nproc) cores" kernel "$(uname -sr)" \
    command "$PROGRAM${ARGUMENTS:+ $ARGUMENTS}" rounds "$ROUNDS" \
    versions "$(IFS=';'; sed 's/;/; /g' <<<"${versions[*]}")$(build_note)"
}

print_setting() {
  printf '# What jobs and channels cost\n\n'
  circumstances | sed 's/^\([^=]*\)=/- \1: /'
  cat <<'TEXT'

Each run is a process of its own, held to one core; the sides of a row run in turn,
round after round. Figures are medians (least–greatest) of the rounds; seconds are CPU
time of the process, with its collector and its kernel time, from the start of the
program to its end: building what it measures and warming up are in it. Every program
checks its result. Go has one core too; a hand-written coroutine under luv does only what
its program needs, without queues, fairness, checks or cancellation.

TEXT
}

# list_cases, list_sides: as bench/concurrency/lib/samples.awk takes them.
list_cases() {
  local name list=
  for name in "${CASES[@]}"; do list+="$name|${WANTED[$name]}|${TITLES[$name]};"; done
  echo "${list%;}"
}

list_sides() {
  local side list=
  for side in "${SIDES[@]}"; do list+="$side|${SIDE_TITLES[$side]};"; done
  echo "${list%;}"
}

# from_samples <awk option...>
from_samples() {
  awk -f bench/lib/median.awk -f "$FOLDER/lib/samples.awk" -v cases="$(list_cases)" \
    -v sides="$(list_sides)" "$@" "$SAMPLES"
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

print_report() {
  print_setting
  from_samples -f bench/lib/table.awk -f "$FOLDER/lib/results.awk"
  print_list "Left out" "${LEFT_OUT[@]}"
  print_list "Faults" "${FAULTS[@]}"
}

# lines <text...>: one a line, and no line at the end.
lines() {
  local IFS=$'\n'
  printf '%s' "$*"
}

# awk's -v would read escapes in what is passed.
escaped() {
  local text=$1
  printf '%s' "${text//\\/\\\\}"
}

print_json() {
  from_samples -v circumstances="$(escaped "$(circumstances)")" \
    -v left_out="$(escaped "$(lines "${LEFT_OUT[@]}")")" \
    -v faults="$(escaped "$(lines "${FAULTS[@]}")")" -f "$FOLDER/lib/json.awk"
}

# write_file <file> <function that prints it>
write_file() {
  if "$2" >"$1"; then say "wrote $1"; else EXIT_CODE=1; fi
}

write_reports() {
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  print_report
  if [[ $OUT ]]; then write_file "$OUT" print_report; fi
  if [[ $JSON_FILE ]]; then write_file "$JSON_FILE" print_json; fi
  say "done after $SECONDS s"
}
