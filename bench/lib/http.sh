# SPDX-License-Identifier: MIT
#
# One request without a process of its own, and the answers that every server must give
# before it is measured.  Owns STATUS, TYPE, CONTENT (of the last answer).
# shellcheck shell=bash disable=SC2034

readonly START_MS=10000 # then a server that does not answer is given up
readonly TEXT="text/plain" JSON="application/json"

# path -> status, media type, content
declare -rA ANSWERS=(
  [/plaintext]="200 $TEXT Hello, World!"
  [/json]="200 $JSON {\"message\":\"Hello, World!\"}"
  [/hello]="200 $TEXT Hello, World!"
  [/hello/fred]="200 $TEXT Hello, fred!"
  [/missing]="404 $TEXT 404 Not Found"
  [/constant]="200 $TEXT Hello, World!"
)

# read_answer <descriptor>: head and content, as far as Content-Length tells.
read_answer() {
  local line name value length=0
  IFS=' ' read -rt 5 -u "$1" _ STATUS _ || return 1
  while IFS= read -rt 5 -u "$1" line; do
    line=${line%$'\r'}
    if [[ ! $line ]]; then
      CONTENT=
      if ((length > 0)); then read -rt 5 -u "$1" -N "$length" CONTENT; fi
      return
    fi
    name=${line%%:*} value=${line#*: }
    case ${name,,} in
      content-length) [[ $value =~ ^[0-9]{1,5}$ ]] && length=$value ;;
      content-type) TYPE=${value%%;*} ;;
    esac
  done
  return 1
}

# http_get <port> <path> [<field>...]: fails where no answer came.
http_get() {
  local connection code=0
  STATUS='' TYPE='' CONTENT=''
  { exec {connection}<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 1
  printf '%s\r\n' "GET $2 HTTP/1.1" "Host: 127.0.0.1:$1" "${@:3}" '' >&"$connection"
  read_answer "$connection" || code=1
  exec {connection}>&-
  return "$code"
}

# await <server> <port> <path> [<field>...]: until the first 200; fails where it ends or
# takes long.
await() {
  local pid=${RUNNING[$1]} until_us=$((${EPOCHREALTIME/./} + START_MS * 1000))
  while ((${EPOCHREALTIME/./} < until_us)); do
    if http_get "${@:2}" && [[ $STATUS == 200 ]]; then return 0; fi
    is_alive "$pid" || return 1
    read -rt 0.0005 -u "$NAP" || true
  done
  return 1
}

# check_answer <server> <port> <path> [<field>...]: says what is wrong, and fails.
check_answer() {
  local status type content got
  IFS=' ' read -r status type content <<<"${ANSWERS[$3]}"
  if ! http_get "${@:2}"; then
    fault "$1: no answer to GET $3 (${STATUS:-no status line})"
    return 1
  fi
  got=${CONTENT%$'\n'}
  if [[ "$STATUS $TYPE $got" != "$status $type $content" ]]; then
    fault "$1: GET $3: want \"$status $type $content\", got \"$STATUS $TYPE $got\""
    return 1
  fi
}
