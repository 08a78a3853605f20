# SPDX-License-Identifier: MIT
#
# How values of a command line are read: what is wrong is said, and ends the program.
# Owns WORDS and NUMBER (of the last value).  Reads PROGRAM.
# shellcheck shell=bash disable=SC2034,SC2153

readonly WRONG_USAGE=2

# fail_usage <message>
fail_usage() {
  printf '%s: %s\nTry: %s --help\n' "$PROGRAM" "$1" "$PROGRAM" >&2
  exit "$WRONG_USAGE"
}

# read_words <option> <list> <words allowed>: WORDS gets what the comma list names.
read_words() {
  local word
  IFS=, read -ra WORDS <<<"$2"
  for word in "${WORDS[@]}"; do
    [[ " $3 " == *" $word "* ]] || fail_usage "$1: no $word; there is: $3"
  done
}

# read_numbers <option> <list> <most>: WORDS gets whole numbers from 1 to <most>.
read_numbers() {
  local word
  IFS=, read -ra WORDS <<<"$2"
  for word in "${WORDS[@]}"; do
    if [[ ! $word =~ ^[1-9][0-9]{0,3}$ ]] || ((word > $3)); then
      fail_usage "$1: $word: want whole numbers from 1 to $3"
    fi
  done
}

# read_number <option> <number> <most>: NUMBER gets it.
read_number() {
  read_numbers "$@"
  ((${#WORDS[@]} == 1)) || fail_usage "$1: want one number"
  NUMBER=${WORDS[0]}
}
