# SPDX-License-Identifier: MIT
#
# From micro samples (row, size, variant, round, nanoseconds per request) to tables of
# differences, taken round by round.

BEGIN { FS = "\t" }

{
  ns[$1, $2, $3, $4] = $5
  if ($4 > last_round) last_round = $4
  if (!(($1, $2) in seen)) size[$1, ++sizes[$1]] = $2
  seen[$1, $2] = 1
}

# "median (least-greatest)" of (a - b) / times; without b, of a.
function difference(row, size, a, b, times,   list, n, i) {
  for (i = 1; i <= last_round; i++) {
    if (!((row, size, a, i) in ns)) continue
    if (b == "") list[++n] = ns[row, size, a, i]
    else if ((row, size, b, i) in ns)
      list[++n] = (ns[row, size, a, i] - ns[row, size, b, i]) / times
  }
  return b == "" ? spread(list, n + 0, "%.0f") : known(list, n + 0, "%.0f", 0)
}

function head(text,   names, n, i) {
  n = split(text, names, ";")
  for (i = 1; i <= n; i++) cell(0, i, names[i])
}

function print_dispatch(   k, row, count) {
  row = "dispatch"
  print "## Dispatch into Lua\n"
  print "Nanoseconds of CPU that a request costs from entering Lua to its answer:"
  print "event, handle, handler, answer written by C; without reading, parsing, routing"
  print "and sending (bench/micro/dispatch.lua). Requests are spread over as many"
  print "routes, each with a Lua function of its own, or all with the same one. The"
  print "bound is 400 ns at 1,000 handlers for the dispatch alone, a part of this.\n"
  head("routes;a handler each;one for all;a handler each, more by")
  for (k = 1; k <= sizes[row]; k++) {
    count = size[row, k]
    cell(k, 1, count)
    cell(k, 2, difference(row, count, "own", ""))
    cell(k, 3, difference(row, count, "shared", ""))
    cell(k, 4, difference(row, count, "own", "shared", 1))
  }
  print_table()
}

function print_headers(   k, row, count) {
  row = "headers"
  print "## Looking a header up\n"
  print "Nanoseconds of server CPU: a handler that reads req.headers[\"x-last\"], the"
  print "last header of the request, once or eleven times, less one that reads none;"
  print "the same requests for all three.\n"
  head("headers of the request;request without look-up;first look-up, ns;" \
    "each further one, ns")
  for (k = 1; k <= sizes[row]; k++) {
    count = size[row, k]
    cell(k, 1, count)
    cell(k, 2, difference(row, count, 0, ""))
    cell(k, 3, difference(row, count, 1, 0, 1))
    cell(k, 4, difference(row, count, 11, 1, 10))
  }
  print_table()
}

END {
  if (sizes["dispatch"]) print_dispatch()
  if (sizes["headers"]) print_headers()
}
