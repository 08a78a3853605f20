# SPDX-License-Identifier: MIT
#
# Medians and spreads of lists t[1..n].

function sort(t, n,   i, j, x) {
  for (i = 2; i <= n; i++) {
    x = t[i]
    for (j = i - 1; j >= 1 && t[j] > x; j--) t[j + 1] = t[j]
    t[j + 1] = x
  }
}

# Of a sorted list.
function median(t, n) {
  return n % 2 ? t[(n + 1) / 2] : (t[n / 2] + t[n / 2 + 1]) / 2
}

# Sorts the list: "8.12 (8.01-8.40)".
function spread(t, n, format) {
  if (n == 0) return "-"
  sort(t, n)
  return sprintf(format, median(t, n)) \
    " (" sprintf(format, t[1]) "–" sprintf(format, t[n]) ")"
}

# Like spread; unknown where `even` (no difference) lies inside the spread.
function known(t, n, format, even,   text) {
  text = spread(t, n, format)
  if (n > 0 && t[1] <= even && t[n] >= even) sub(/^[^ ]*/, "unknown", text)
  return text
}
