# SPDX-License-Identifier: MIT
#
# Runs the programs, round after round, the sides of a case in turn.  Owns SAMPLES (a
# file, one line a run: case, side, round, operations, seconds of CPU, peak KiB, further
# figures as text) and FAILED (by case and side).
# shellcheck shell=bash disable=SC2034,SC2153

readonly PROGRAM_MS=60000 # then a program is ended
readonly RESULT='^[0-9]+ [0-9]+\.[0-9]+ [0-9]+( |$)'

declare -A FAILED=()

# note <case> <side> <round> <operations> <seconds> <KiB> [<further>]
note() {
  printf '%s\t%s\t%d\t%s\t%s\t%s\t%s\n' "$@" >>"$SAMPLES"
}

# fail_case <case> <side> <message>: it is not run again.
fail_case() {
  FAILED[$1 $2]=yes
  fault "$1, ${SIDE_TITLES[$2]}: $3"
}

# take_program <case> <side> <round>
take_program() {
  local name=$1 side=$2 line count seconds kib further
  command_of "$side" "$name"
  start program "${COMMAND[@]}"
  await_end program "$PROGRAM_MS"
  stop program
  line=$(tail -n 1 "$WORK/program.log")
  if [[ ! $line =~ $RESULT ]]; then
    fail_case "$name" "$side" "${line:-nothing after $((PROGRAM_MS / 1000)) s}"
    return
  fi
  read -r count seconds kib further <<<"$line"
  note "$name" "$side" "$3" "$count" "$seconds" "$kib" "$further"
}

# take_case <case> <round>
take_case() {
  local name=$1 round=$2 side
  for side in "${SIDES[@]}"; do
    if [[ ${FAILED[$name $side]:-} ]] || ! knows "$side" "$name"; then continue; fi
    progress "round $round of $ROUNDS: $name, ${SIDE_TITLES[$side]}"
    if [[ ${PARTS[$name]} != server ]]; then
      take_program "$name" "$side" "$round"
    elif [[ $side == luaweb* ]]; then
      take_server "$name" "$side" "$round"
    fi
    ((++LOADS_DONE))
  done
}

take_rounds() {
  local round name
  for ((round = 1; round <= ROUNDS; round++)); do
    say "round $round of $ROUNDS, after $SECONDS s"
    for name in "${CASES[@]}"; do take_case "$name" "$round"; done
  done
}
