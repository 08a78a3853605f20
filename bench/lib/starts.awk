# SPDX-License-Identifier: MIT
#
# From the starts (server, round, microseconds, KiB at rest) and what was held (server,
# RSS and its peak in KiB; -v held=file) to a table.

BEGIN {
  FS = "\t"
  read_titles()
  while ((getline line < held) > 0) {
    split(line, part, FS)
    rss[part[1]] = sprintf("%.1f", part[2] / 1024)
    peak[part[1]] = sprintf("%.1f", part[3] / 1024)
  }
}

!($1 in rounds) { names[++count] = $1 }

{
  n = ++rounds[$1]
  took[$1, n] = $3 / 1000
  resting[$1, n] = $4 / 1024
}

function column_of(values, name,   list, i) {
  for (i = 1; i <= rounds[name]; i++) list[i] = values[name, i]
  return spread(list, rounds[name], "%.1f")
}

END {
  if (count == 0) exit
  print "## Start and memory\n"
  cell(0, 1, "server")
  cell(0, 2, "start to first answer, ms")
  cell(0, 3, "RSS after it, MiB")
  cell(0, 4, "RSS with 256 connections, MiB")
  cell(0, 5, "peak, MiB")
  for (k = 1; k <= count; k++) {
    cell(k, 1, title[names[k]])
    cell(k, 2, column_of(took, names[k]))
    cell(k, 3, column_of(resting, names[k]))
    cell(k, 4, names[k] in rss ? rss[names[k]] : "-")
    cell(k, 5, names[k] in peak ? peak[names[k]] : "-")
  }
  print_table()
}
