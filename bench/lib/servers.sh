# SPDX-License-Identifier: MIT
#
# The servers: how each is called in a report, what it needs, how it is started, what it
# says of its version.  One case a server in each function; nothing is started here.
# Reads BUILD, AGAINST (of the options) and WORK (process.sh).
# shellcheck shell=bash disable=SC2034,SC2153

PATH=$PATH:/usr/sbin:/sbin

declare -rA TITLES=(
  [luaweb]="luaweb"
  [rawepoll]="raw epoll (floor)"
  [rawuv]="raw libuv (floor)"
  [nginx]="nginx return"
  [nginx-lua]="nginx + Lua"
  [h2o]="h2o + mruby"
  [lighttpd]="lighttpd + Lua"
  [node]="Node.js"
  [minimal]="minimal.lua"
  [full]="full.lua"
  [greeter]="greeter.lua"
  [constant]="constant.lua"
  [before]="minimal.lua, before"
)

has() {
  command -v "$1" >/dev/null
}

nginx_modules() {
  nginx -V 2>&1 | sed -n 's/.*--modules-path=\([^ ]*\).*/\1/p'
}

# Whether lua-cjson is there for this version of Lua.
has_cjson() {
  compgen -G "/usr/lib/*/lua/$1/cjson.so" >/dev/null ||
    compgen -G "/usr/local/lib/lua/$1/cjson.so" >/dev/null
}

# lack_of <server>: prints what must be installed for it; nothing where it can run.
lack_of() {
  case $1 in
    rawepoll | rawuv)
      [[ -x $BUILD/$1 ]] || echo "$BUILD/$1 (build with -DLUAWEB_BENCH=ON)"
      ;;
    nginx) has nginx || echo "package nginx-light" ;;
    nginx-lua)
      has nginx && [[ -e $(nginx_modules)/ngx_http_lua_module.so ]] ||
        echo "package libnginx-mod-http-lua"
      has_cjson 5.1 || echo "package lua-cjson"
      ;;
    h2o) has h2o || echo "package h2o" ;;
    lighttpd)
      has lighttpd && compgen -G "/usr/lib*/lighttpd/mod_magnet.so" >/dev/null ||
        echo "packages lighttpd, lighttpd-mod-magnet"
      has_cjson 5.4 || echo "package lua-cjson"
      ;;
    node) has node || echo "package nodejs" ;;
  esac
}

# Without luaweb or wrk there is nothing to measure.
need_wrk_and_luaweb() {
  if ! has wrk; then
    say "wrk is missing: install the package wrk"
    exit "$WRONG_USAGE"
  fi
  if [[ ! -x $BUILD/luaweb ]]; then
    say "$BUILD/luaweb is missing: cmake -B $BUILD -DLUAWEB_BENCH=ON &&" \
      "cmake --build $BUILD -j"
    exit "$WRONG_USAGE"
  fi
}

# fill <file under bench/peers> <port>: a configuration with the run's values in WORK.
fill() {
  local modules=
  if [[ $1 == nginx-lua.conf ]]; then modules=$(nginx_modules); fi
  sed -e "s|@WORK@|$WORK|g" -e "s|@PORT@|$2|g" -e "s|@BENCH@|$PWD/bench|g" \
    -e "s|@MODULES@|$modules|g" "bench/peers/$1" >"$WORK/$1"
}

# one_worker [<binary>]: options that hold luaweb to one worker, where it has several.
one_worker() {
  if [[ $("${1:-$BUILD/luaweb}" --help) == *" --workers "* ]]; then
    echo "--workers 1"
  fi
}

# serve_with <binary> <app> <port>: COMMAND gets what serves the app with this luaweb.
serve_with() {
  local workers
  read -ra workers < <(one_worker "$1")
  COMMAND=("$1" "$2" --listen "127.0.0.1:$3" "${workers[@]}")
}

# command_of <server> <port>: COMMAND gets the command that serves in the foreground.
command_of() {
  local server=$1 port=$2
  case $server in
    luaweb) serve_with "$BUILD/luaweb" bench/apps/bench.lua "$port" ;;
    minimal | full | constant)
      serve_with "$BUILD/luaweb" "bench/apps/$server.lua" "$port"
      ;;
    greeter) serve_with "$BUILD/luaweb" apps/greeter.lua "$port" ;;
    before) serve_with "$AGAINST" bench/apps/minimal.lua "$port" ;;
    rawepoll | rawuv) COMMAND=("$BUILD/$server" "$port") ;;
    nginx | nginx-lua)
      fill "$server.conf" "$port"
      COMMAND=(nginx -p "$WORK" -c "$WORK/$server.conf")
      ;;
    h2o)
      fill h2o.yaml "$port"
      COMMAND=(h2o -c "$WORK/h2o.yaml")
      ;;
    lighttpd)
      fill lighttpd.conf "$port"
      COMMAND=(lighttpd -D -f "$WORK/lighttpd.conf")
      ;;
    node) COMMAND=(node bench/peers/node.js "$port") ;;
  esac
}

# version_of <server>
version_of() {
  case $1 in
    luaweb | minimal | full | greeter | constant) "$BUILD/luaweb" --version ;;
    before) "$AGAINST" --version ;;
    rawepoll) echo "bench/baseline/epoll.c" ;;
    rawuv) echo "bench/baseline/rawuv.c, libuv $(pkg-config --modversion libuv \
      2>/dev/null || echo of unknown version)" ;;
    nginx) nginx -v 2>&1 | sed 's/^nginx version: //' ;;
    nginx-lua)
      echo "$(nginx -v 2>&1 | sed 's/^nginx version: //'), ngx_http_lua_module" \
        "$(package_version libnginx-mod-http-lua)"
      ;;
    h2o) h2o --version | sed -n '1s/version //p' ;;
    lighttpd) lighttpd -v | sed 's/ .*//' ;;
    node) echo "node $(node --version)" ;;
  esac
}

package_version() {
  dpkg-query -W -f='${Version}' "$1" 2>/dev/null || echo "of unknown version"
}

# answers_path <server> <path>: the floors know one answer.
answers_path() {
  [[ $1 != raw* || $2 == /hello/fred ]]
}
