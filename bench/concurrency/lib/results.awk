# SPDX-License-Identifier: MIT
#
# From the samples to the tables of the report.

function is_server(name) {
  return name ~ /^B15-/
}

# The heads of the columns of sides, from this one on; gives the next.
function side_heads(column,   i) {
  for (i = 1; i <= side_count; i++) cell(0, column++, side_title[side[i]])
  return column
}

function is_measured(name,   i) {
  for (i = 1; i <= side_count; i++) if ((name FS side[i]) in runs) return 1
  return 0
}

# A table with a line for each case: median and spread of a metric.
function print_metric(title, metric, factor, format, has_wanted,   i, k, line, n) {
  print "## " title "\n"
  cell(0, 1, "row")
  cell(0, 2, "one operation is")
  side_heads(3)
  if (has_wanted) cell(0, side_count + 3, "wanted")
  for (i = 1; i <= case_count; i++) {
    if (is_server(names[i]) || !is_measured(names[i])) continue
    cell(++line, 1, names[i])
    cell(line, 2, what[names[i]])
    for (k = 1; k <= side_count; k++) {
      n = scale(gather(metric, names[i] FS side[k]), factor)
      cell(line, k + 2, spread(found, n, format))
    }
    if (has_wanted) cell(line, side_count + 3, wanted_of(names[i]))
  }
  print_table()
}

function wanted_of(name) {
  return wanted[name] == "-" ? "" : "at least " wanted[name]
}

# What one case costs more than another, round by round, in nanoseconds.
function gather_excess(name, base, which,   round, n, a, b) {
  split("", found)
  a = name FS which
  b = base FS which
  for (round = 1; round <= last_round; round++)
    if ((a, round) in is_there && (base == "" || (b, round) in is_there))
      found[++n] = value["ns", a, round] - (base == "" ? 0 : value["ns", b, round])
  return n + 0
}

function excess_line(line, text, name, base, most,   k) {
  if (!is_measured(name) || (base != "" && !is_measured(base))) return line
  cell(++line, 1, text)
  cell(line, 2, base == "" ? name : name " less " base)
  for (k = 1; k <= side_count; k++)
    cell(line, k + 2, spread(found, gather_excess(name, base, side[k]), "%.0f"))
  cell(line, side_count + 3, most)
  return line
}

function print_parts(   line) {
  cell(0, 1, "nanoseconds for")
  cell(0, 2, "from")
  side_heads(3)
  cell(0, side_count + 3, "wanted")
  line = excess_line(0, "a timer armed and cancelled", "B7-alone", "", "at most 150")
  line = excess_line(line, "the same among 100,000, in a choice", "B7-100k", "B7-0", "")
  line = excess_line(line, "a nack made, that fires", "B8-fired", "B8-none",
    "at most 250")
  line = excess_line(line, "a nack made, whose side wins", "B8-won", "B8-none", "")
  if (line > 0) print "## Parts\n"
  if (line > 0) print_table()
}

function parked_line(line, text, field, most,   k) {
  cell(line, 1, text)
  for (k = 1; k <= side_count; k++)
    cell(line, k + 1, spread(found, gather("further" field, "B14" FS side[k]),
      field == 1 ? "%.0f" : "%.2f"))
  cell(line, side_count + 2, most)
}

function print_parked() {
  if (!is_measured("B14")) return
  print "## Parked jobs (B14)\n"
  cell(0, 1, "of 100,000")
  side_heads(2)
  cell(0, side_count + 2, "wanted")
  parked_line(1, "octets held by each", 1, "at most 1048")
  parked_line(2, "longest turn when all are woken, ms", 2, "")
  parked_line(3, "longest step of the collector, ms", 3, "")
  parked_line(4, "cancelling all, ms", 4, "")
  print_table()
}

function print_servers(   i, k, line, n) {
  for (i = 1; i <= case_count; i++)
    if (is_server(names[i]) && is_measured(names[i])) n++
  if (!n) return
  print "## Inside a server (B15)\n"
  cell(0, 1, "row")
  cell(0, 2, "CPU µs of")
  for (k = 1; k <= side_count; k++)
    if (side[k] ~ /^luaweb/) {
      cell(0, 2 * k + 1, side_title[side[k]])
      cell(0, 2 * k + 2, "more than empty")
    }
  for (i = 1; i <= case_count; i++)
    if (is_server(names[i]) && is_measured(names[i])) server_line(++line, names[i])
  print_table()
}

function server_line(line, name,   k, n) {
  cell(line, 1, name)
  cell(line, 2, what[name])
  for (k = 1; k <= side_count; k++) {
    if (side[k] !~ /^luaweb/) continue
    n = scale(gather("ns", name FS side[k]), 0.001)
    cell(line, 2 * k + 1, spread(found, n, "%.2f"))
    if (name == "B15-empty") continue
    n = scale(gather_excess(name, "B15-empty", side[k]), 0.001)
    cell(line, 2 * k + 2, known(found, n, "%.2f", 0))
  }
}

END {
  if (NR == 0) exit
  print_metric("Millions of operations a second", "rate", 1e-6, "%.2f", 1)
  print_parts()
  print_parked()
  print_servers()
  print_metric("Memory: most that was resident, MiB", "mib", 1, "%.1f", 0)
}
