# SPDX-License-Identifier: MIT
#
# From samples: the servers whose CPU per request or requests per second are within 10 %
# of luaweb's (median of the ratios, round by round) in the cell path, connections,
# depth.  One line of names.

BEGIN { FS = "\t" }

$1 == path && $2 == connections && $3 == depth {
  rate[$5, $4] = $6 / $7
  cpu[$5, $4] = $8 / $6
  if (!($5 in last)) names[++count] = $5
  last[$5] = $4
}

function is_near(values, name,   list, n, i, middle) {
  for (i = 1; i <= last[name]; i++)
    if ((name, i) in values && ("luaweb", i) in values)
      list[++n] = values[name, i] / values["luaweb", i]
  if (n == 0) return 0
  sort(list, n)
  middle = median(list, n)
  return middle > 0.9 && middle < 1.1
}

END {
  for (k = 1; k <= count; k++)
    if (names[k] != "luaweb" && (is_near(cpu, names[k]) || is_near(rate, names[k])))
      printf "%s ", names[k]
  print ""
}
