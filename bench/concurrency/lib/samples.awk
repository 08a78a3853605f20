# SPDX-License-Identifier: MIT
#
# Reads the samples of the suite (see programs.sh) for the programs that print them.
# -v cases="name|wanted|title;..." and -v sides="name|title;..." tell the order of the
# lines and columns.

BEGIN {
  FS = "\t"
  case_count = split(cases, case_list, ";")
  for (i = 1; i <= case_count; i++) {
    split(case_list[i], part, "|")
    names[i] = part[1]
    wanted[part[1]] = part[2]
    what[part[1]] = part[3]
  }
  side_count = split(sides, side_list, ";")
  for (i = 1; i <= side_count; i++) {
    split(side_list[i], part, "|")
    side[i] = part[1]
    side_title[part[1]] = part[2]
  }
}

{
  id = $1 FS $2
  runs[id]++
  if ($3 > last_round) last_round = $3
  is_there[id, $3] = 1
  value["count", id, $3] = $4
  value["seconds", id, $3] = $5
  value["rate", id, $3] = $4 / ($5 > 0 ? $5 : 1e-6)
  value["ns", id, $3] = 1e9 / value["rate", id, $3]
  value["kib", id, $3] = $6
  value["mib", id, $3] = $6 / 1024
  further[id, $3] = split($7, part, " ")
  for (i = 1; i <= further[id, $3]; i++) value["further" i, id, $3] = part[i]
}

# Puts the values of a metric into `found`; gives their count.  "-" is no value.
function gather(metric, id,   round, n) {
  split("", found)
  for (round = 1; round <= last_round; round++)
    if ((id, round) in is_there && value[metric, id, round] ~ /^[0-9]/)
      found[++n] = value[metric, id, round]
  return n + 0
}

function scale(n, factor,   i) {
  for (i = 1; i <= n; i++) found[i] *= factor
  return n
}
