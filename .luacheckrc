std = "luajit"
codes = true
self = false
max_line_length = 88
max_cyclomatic_complexity = 12
ignore = { "212/_.*" }                         -- an unused argument is named _like_this
files["lua/luaweb/graph.lua"] = { max_line_length = false }   -- the table stays whole
files["spec/**/*_spec.lua"] = { std = "+busted", max_cyclomatic_complexity = false }
files["spec/faults/*.lua"] = { std = "+busted" }
files["bench/load/*.lua"] = {                  -- wrk's hook names are globals
  globals = { "wrk", "setup", "init", "delay", "request", "response", "done" },
}
exclude_files = { "build/**" }
