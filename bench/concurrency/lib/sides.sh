# SPDX-License-Identifier: MIT
#
# The sides that are compared: how each is called, what it needs, what it runs.  Owns
# SIDE_TITLES, GO_BINARY, LACKS (by side: what must be installed for it) and PIN (words
# before a command that hold it to one core).  Reads BUILD and WORK.
# shellcheck shell=bash disable=SC2034,SC2153

declare -rA SIDE_TITLES=(
  [luaweb]="luaweb"
  [luaweb-off]="luaweb, JIT off"
  [cqueues]="cqueues"
  [luv]="luv"
  [go]="Go"
)
readonly FOLDER=bench/concurrency
# cqueues takes up to ten times as long.
declare -rA DIVISORS=([cqueues]=4)

PIN=()

has() {
  command -v "$1" >/dev/null
}

choose_core() {
  if has taskset; then
    PIN=(taskset -c "$(($(nproc) - 1))")
  else
    leave_out "holding each program to one core: needs taskset (package util-linux)"
  fi
}

# Whether Lua's own LuaJIT finds a module.
has_module() {
  echo "require '$1'" >"$WORK/has.lua"
  "$BUILD/luajit" "$WORK/has.lua" >/dev/null 2>&1
}

lack_of_module() {
  if [[ ! -x $BUILD/luajit ]]; then
    echo "$BUILD/luajit (build with -DLUAWEB_BENCH=ON)"
  elif ! has_module "$1"; then
    echo "package $2"
  fi
}

# lack_of <side>: prints what must be installed for it; nothing where it can run.
lack_of() {
  case $1 in
    cqueues) lack_of_module cqueues lua-cqueues ;;
    luv) lack_of_module luv lua-luv ;;
    go) has go || echo "package golang-go" ;;
  esac
}

build_go() {
  progress "building the programs in Go"
  GO_BINARY=$WORK/go-programs
  GO111MODULE=off GOCACHE=$WORK/go-cache go build -o "$GO_BINARY" "$FOLDER"/go/*.go \
    >"$WORK/go-build.log" 2>&1 </dev/null
}

# prepare_sides: SIDES keeps those that can run.
prepare_sides() {
  local side lack kept=()
  for side in "${SIDES[@]}"; do
    lack=$(lack_of "$side")
    if [[ $lack ]]; then
      leave_out "${SIDE_TITLES[$side]}: needs $lack"
    elif [[ $side == go ]] && ! build_go; then
      fault "Go: $(tail -n 1 "$WORK/go-build.log")"
    else
      kept+=("$side")
    fi
  done
  SIDES=("${kept[@]}")
}

# knows <side> <case>: luaweb has all; a peer has what its library can express.
knows() {
  case $1 in
    luaweb*) true ;;
    go) grep -qF "programs[\"$2\"]" "$FOLDER"/go/*.go ;;
    *) grep -qF "programs[\"$2\"]" "$FOLDER/peers/$1.lua" ;;
  esac
}

# command_of <side> <case>: COMMAND gets what runs that program.
command_of() {
  local side=$1 name=$2 size=$((SIZES[$2] / ${DIVISORS[$1]:-1} / SCALE)) jit=on
  local file=$FOLDER/peers/$1.lua binary=$BUILD/luajit
  if ((size == 0)); then size=1; fi
  if [[ $side == go ]]; then
    COMMAND=("${PIN[@]}" "$GO_BINARY" "$name" "$size")
    return
  fi
  if [[ $side == luaweb* ]]; then
    binary=$BUILD/luaweb file=$FOLDER/luaweb/${PARTS[$name]}.lua
  fi
  if [[ $side == luaweb-off ]]; then jit=off; fi
  COMMAND=(env "BENCH_FILE=$file" "BENCH_CASE=$name" "BENCH_N=$size" "BENCH_JIT=$jit"
    "${PIN[@]}" "$binary" "$FOLDER/main.lua")
}

# version_of <side>
version_of() {
  case $1 in
    luaweb*) "$BUILD/luaweb" --version ;;
    cqueues) echo "lua-cqueues $(package_version lua-cqueues)" ;;
    luv) echo "lua-luv $(package_version lua-luv)" ;;
    go) go version | sed 's/^go version //' ;;
  esac
}

package_version() {
  dpkg-query -W -f='${Version}' "$1" 2>/dev/null || echo "of unknown version"
}
