# SPDX-License-Identifier: MIT
#
# From the loads of an app (round, microseconds to run the script, to compile what it
# declared) to a table.  -v resources= is how many it has, -v bound= milliseconds.

BEGIN { FS = "\t" }

{
  script[++n] = $2 / 1000
  compiled[n] = $3 / 1000
  whole[n] = ($2 + $3) / 1000
  if (whole[n] <= bound) within++
}

END {
  if (n == 0) exit
  print "## Loading an app\n"
  cell(0, 1, "resources")
  cell(0, 2, "runs")
  cell(0, 3, "script, ms")
  cell(0, 4, "machines, ms")
  cell(0, 5, "both, ms")
  cell(0, 6, "bound, ms")
  cell(1, 1, resources)
  cell(1, 2, n)
  cell(1, 3, spread(script, n, "%.1f"))
  cell(1, 4, spread(compiled, n, "%.1f"))
  cell(1, 5, spread(whole, n, "%.1f"))
  cell(1, 6, bound ", kept in " within + 0 " of " n)
  print_table()
}
