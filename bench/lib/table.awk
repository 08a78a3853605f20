# SPDX-License-Identifier: MIT
#
# A Markdown table, padded so that it reads well as text: cell(row, column, text) fills
# it, with row 0 as the head; print_table() writes and empties it.

function cell(row, column, text) {
  content[row, column] = text
  if (row > last_row) last_row = row
  if (column > last_column) last_column = column
  if (width(text) > widths[column]) widths[column] = width(text)
}

# Characters, not octets.
function width(text) {
  gsub(/–|µ/, "-", text)
  return length(text)
}

function pad(text, size) {
  while (width(text) < size) text = text " "
  return text
}

function rule(size,   text) {
  while (length(text) < size) text = text "-"
  return text
}

function print_table(   row, column, line) {
  for (row = 0; row <= last_row; row++) {
    line = "|"
    for (column = 1; column <= last_column; column++)
      line = line " " pad(content[row, column], widths[column]) " |"
    print line
    if (row > 0) continue
    line = "|"
    for (column = 1; column <= last_column; column++)
      line = line rule(widths[column] + 2) "|"
    print line
  }
  print ""
  split("", content)
  split("", widths)
  last_row = last_column = 0
}
