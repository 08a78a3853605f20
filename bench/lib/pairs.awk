# SPDX-License-Identifier: MIT
#
# From the samples of pairs to a table: one file a row, called samples.<row>, with the
# columns of bench/lib/measure.sh.  -v pairs="row first second path bound bound;..." as
# in bench/lib/pairs.sh; the bounds are those of depth 1, and of more.

BEGIN {
  FS = "\t"
  read_titles()
  count = split(pairs, list, ";")
  for (i = 1; i <= count; i++) {
    split(list[i], part, " ")
    names[i] = part[1]
    first[part[1]] = part[2]
    second[part[1]] = part[3]
    bound[part[1], "single"] = part[5]
    bound[part[1], "many"] = part[6]
  }
}

FNR == 1 {
  row = FILENAME
  sub(/.*\./, "", row)
}

{
  if (!((row, $3) in seen)) depth[row, ++depths[row]] = $3
  seen[row, $3] = 1
  if ($4 > last_round) last_round = $4
  id = row FS $3 FS $5
  cpu[id, $4] = $8 / $6 / 1000
  busy[id, $4] = $8 / 1000 / $7 * 100
  rate[id, $4] = $6 / ($7 / 1e6)
  errors[row, $3] += $15 + $16
}

# Puts the values of a server into `found`; gives their count.
function gather(values, id,   round, n) {
  split("", found)
  for (round = 1; round <= last_round; round++)
    if ((id, round) in values) found[++n] = values[id, round]
  return n + 0
}

# Like gather: the ratios of CPU per request, first to second, round by round.
function gather_ratios(a, b,   round, n) {
  split("", found)
  for (round = 1; round <= last_round; round++)
    if ((a, round) in cpu && (b, round) in cpu)
      found[++n] = cpu[a, round] / cpu[b, round]
  return n + 0
}

# Of `found`: in how many rounds the bound was kept.
function kept(n, most,   i, within) {
  if (most == "-") return "-"
  for (i = 1; i <= n; i++) if (found[i] <= most + 0) within++
  return most ", kept in " within + 0 " of " n
}

function both(values, a, b,   n, text) {
  n = gather(values, a)
  sort(found, n)
  text = n ? sprintf("%.0f", median(found, n)) : "-"
  n = gather(values, b)
  sort(found, n)
  return text ", " (n ? sprintf("%.0f", median(found, n)) : "-")
}

function print_head(   heads, n, i) {
  n = split("first;second;requests a write;pairs;first, CPU µs/request;" \
    "second, CPU µs/request;first to second;bound;requests/s;busy %;errors", \
    heads, ";")
  for (i = 1; i <= n; i++) cell(0, i, heads[i])
}

function print_row(line, row, size,   a, b, n) {
  a = row FS size FS first[row]
  b = row FS size FS second[row]
  cell(line, 1, title[first[row]])
  cell(line, 2, title[second[row]])
  cell(line, 3, size)
  cell(line, 5, spread(found, gather(cpu, a), "%.2f"))
  cell(line, 6, spread(found, gather(cpu, b), "%.2f"))
  n = gather_ratios(a, b)
  cell(line, 4, n)
  cell(line, 7, known(found, n, "%.2f", 1))
  cell(line, 8, kept(n, bound[row, size == 1 ? "single" : "many"]))
  cell(line, 9, both(rate, a, b))
  cell(line, 10, both(busy, a, b))
  cell(line, 11, errors[row, size])
}

END {
  if (last_round == 0) exit
  print "## Pairs\n"
  print_head()
  for (i = 1; i <= count; i++)
    for (k = 1; k <= depths[names[i]]; k++)
      print_row(++line, names[i], depth[names[i], k])
  print_table()
}
