# SPDX-License-Identifier: MIT
#
# What a run tells meanwhile, on stderr, and what it keeps for its report.  Owns FAULTS
# and LEFT_OUT (lists of texts), LOADS_PLANNED and LOADS_DONE.  Reads PROGRAM.
# shellcheck shell=bash disable=SC2034,SC2153

FAULTS=()
LEFT_OUT=()
LOADS_PLANNED=0
LOADS_DONE=0

# Above the progress line, which it wipes.
say() {
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  printf '%s: %s\n' "$PROGRAM" "$*" >&2
}

fault() {
  FAULTS+=("$*")
  EXIT_CODE=1
  say "$*"
}

leave_out() {
  LEFT_OUT+=("$*")
  say "left out: $*"
}

progress() {
  if [[ ! -t 2 ]]; then return; fi
  printf '\r\033[K[%d of about %d loads, %d:%02d] %s' "$LOADS_DONE" "$LOADS_PLANNED" \
    $((SECONDS / 60)) $((SECONDS % 60)) "$*" >&2
}
