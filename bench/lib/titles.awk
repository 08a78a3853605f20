# SPDX-License-Identifier: MIT
#
# The names of servers in a report, from -v titles="server=title;...": the array title.

function read_titles(   n, i, at, list) {
  n = split(titles, list, ";")
  for (i = 1; i <= n; i++) {
    at = index(list[i], "=")
    title[substr(list[i], 1, at - 1)] = substr(list[i], at + 1)
  }
}
