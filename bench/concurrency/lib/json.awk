# SPDX-License-Identifier: MIT
#
# From the samples to JSON: -v circumstances is a list of `name=text` lines; -v left_out
# and -v faults are lists of lines.

function quoted(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/"/, "\\\"", text)
  gsub(/[\001-\037]/, " ", text)
  return "\"" text "\""
}

function list(text,   n, i, lines, out) {
  n = split(text, lines, "\n")
  for (i = 1; i <= n; i++) out = out (i > 1 ? ", " : "") quoted(lines[i])
  return "[" out "]"
}

function print_circumstances(   n, i, lines, at) {
  n = split(circumstances, lines, "\n")
  for (i = 1; i <= n; i++) {
    at = index(lines[i], "=")
    printf "  %s: %s,\n", quoted(substr(lines[i], 1, at - 1)),
      quoted(substr(lines[i], at + 1))
  }
}

function summary(metric, id, format,   n) {
  n = gather(metric, id)
  sort(found, n)
  return sprintf("{ \"median\": " format ", \"least\": " format ", \"greatest\": " \
    format " }", median(found, n), found[1], found[n])
}

function print_runs(id,   round, text) {
  for (round = 1; round <= last_round; round++)
    if ((id, round) in is_there)
      text = text (text ? ", " : "") sprintf("[%d, %.6f, %d]",
        value["count", id, round], value["seconds", id, round], value["kib", id, round])
  printf "          \"runs\": [%s]", text
}

function print_further(id,   fields, i) {
  split("octets_each longest_turn_ms longest_gc_step_ms cancel_all_ms", fields, " ")
  for (i = 1; i <= 4; i++)
    if (gather("further" i, id) > 0)
      printf ",\n          \"%s\": %s", fields[i], summary("further" i, id, "%.2f")
}

function print_result(name, which,   id) {
  id = name FS which
  printf "        %s: {\n", quoted(which)
  printf "          \"operations_per_second\": %s,\n", summary("rate", id, "%.0f")
  printf "          \"peak_kib\": %s,\n", summary("kib", id, "%d")
  print_runs(id)
  print_further(id)
  printf "\n        }"
}

function print_case(name,   k, is_later) {
  printf "    {\n      \"case\": %s,\n      \"operation\": %s,\n", quoted(name),
    quoted(what[name])
  if (wanted[name] != "-") printf "      \"wanted_millions\": %s,\n", wanted[name]
  printf "      \"results\": {\n"
  for (k = 1; k <= side_count; k++) {
    if (!((name FS side[k]) in runs)) continue
    if (is_later) printf ",\n"
    is_later = 1
    print_result(name, side[k])
  }
  printf "\n      }\n    }"
}

END {
  print "{"
  print_circumstances()
  printf "  \"runs_are\": [\"operations\", \"CPU seconds\", \"peak KiB\"],\n"
  printf "  \"cases\": ["
  for (i = 1; i <= case_count; i++) {
    is_measured = 0
    for (k = 1; k <= side_count; k++)
      if ((names[i] FS side[k]) in runs) is_measured = 1
    if (!is_measured) continue
    printf printed++ ? ",\n" : "\n"
    print_case(names[i])
  }
  printf "\n  ],\n  \"left_out\": %s,\n  \"faults\": %s\n}\n", list(left_out),
    list(faults)
}
