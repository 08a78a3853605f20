# SPDX-License-Identifier: MIT
#
# From samples to tables: one that sums up CPU per request, then one for each cell.  The
# columns are those of bench/lib/measure.sh.

BEGIN {
  FS = "\t"
  read_titles()
}

{
  key = $1 FS $2 FS $3
  if (!(key in seen_cell)) cells[++cell_count] = key
  if (!($5 in seen_server)) servers[++server_count] = $5
  seen_cell[key] = seen_server[$5] = 1
  id = key FS $5
  taken[id]++
  if ($4 > last_round) last_round = $4
  is_there[id, $4] = 1
  value["rate", id, $4] = $6 / ($7 / 1e6)
  value["cpu", id, $4] = $8 / $6 / 1000
  value["busy", id, $4] = $8 / 1000 / $7 * 100
  for (i = 0; i < 4; i++) value["p" i, id, $4] = $(9 + i) / 1000
  value["rss", id, $4] = $13 / 1024
  value["peak", id, $4] = $14 / 1024
  socket_errors[id] += $15
  wrong[id] += $16
}

# Puts the values of a metric into `found`; gives their count.
function gather(metric, id,   round, n) {
  split("", found)
  for (round = 1; round <= last_round; round++)
    if ((id, round) in is_there) found[++n] = value[metric, id, round]
  return n + 0
}

# Like gather: the ratios to luaweb, round by round.
function gather_ratios(metric, id, base,   round, n) {
  split("", found)
  for (round = 1; round <= last_round; round++)
    if ((id, round) in is_there && (base, round) in is_there)
      found[++n] = value[metric, id, round] / value[metric, base, round]
  return n + 0
}

function median_of(metric, id, format,   n) {
  n = gather(metric, id)
  sort(found, n)
  return sprintf(format, median(found, n))
}

function name_of_cell(key,   part) {
  split(key, part, FS)
  return part[1] ", " part[2] " connections, " \
    (part[3] == 1 ? "no pipelining" : "pipelining " part[3])
}

function print_summary(   row, column, id) {
  cell(0, 1, "CPU µs per request")
  for (row = 1; row <= cell_count; row++) cell(row, 1, name_of_cell(cells[row]))
  for (column = 1; column <= server_count; column++) {
    cell(0, column + 1, title[servers[column]])
    for (row = 1; row <= cell_count; row++) {
      id = cells[row] FS servers[column]
      cell(row, column + 1, id in taken ? median_of("cpu", id, "%.2f") : "")
    }
  }
  print_table()
}

function print_head(   names, n, i) {
  n = split("server;pairs;requests/s;to luaweb;CPU µs/request;to luaweb;busy %;" \
    "p50 ms;p75 ms;p90 ms;p99 ms;RSS, peak MiB;errors", names, ";")
  for (i = 1; i <= n; i++) cell(0, i, names[i])
}

function ratio(metric, id, base) {
  if (id == base) return "1"
  return known(found, gather_ratios(metric, id, base), "%.2f", 1)
}

function errors_of(id) {
  if (socket_errors[id] + wrong[id] == 0) return "0"
  return socket_errors[id] " sockets, " wrong[id] " statuses"
}

function print_server(row, id, server, base,   i) {
  cell(row, 1, title[server])
  cell(row, 2, taken[id])
  cell(row, 3, spread(found, gather("rate", id), "%.0f"))
  cell(row, 4, ratio("rate", id, base))
  cell(row, 5, spread(found, gather("cpu", id), "%.2f"))
  cell(row, 6, ratio("cpu", id, base))
  cell(row, 7, median_of("busy", id, "%.0f"))
  for (i = 0; i < 4; i++)
    cell(row, 8 + i, spread(found, gather("p" i, id), "%.2f"))
  cell(row, 12, median_of("rss", id, "%.1f") ", " median_of("peak", id, "%.1f"))
  cell(row, 13, errors_of(id))
}

function print_cell(key,   i, row) {
  print "### " name_of_cell(key) "\n"
  print_head()
  for (i = 1; i <= server_count; i++)
    if ((key FS servers[i]) in taken)
      print_server(++row, key FS servers[i], servers[i], key FS "luaweb")
  print_table()
}

END {
  if (cell_count == 0) exit
  print "## Summary\n"
  print_summary()
  print "## Paths\n"
  for (k = 1; k <= cell_count; k++) print_cell(cells[k])
}
