-- SPDX-License-Identifier: MIT
-- A strict reader of Prometheus' text format 0.0.4: what a careless one would let pass
-- is an error here.  Knows nothing of what luaweb counts.
local utf8 = require "luaweb.utf8"

local M = {}

---@class spec.Exposition
---@field families table<string, { type: string, help: string }>
---@field values table<string, number>   by name and labels, e.g. 'a_total{x="1"}'
---@field samples { name: string, labels: table<string, string>, value: number }[]
local Exposition = {}
Exposition.__index = Exposition

local SUFFIXES = { histogram = { _bucket = true, _sum = true, _count = true } }
local TYPES = { counter = true, gauge = true, histogram = true }

-- Labels in one order, so that equal ones are equal texts.
local function key_of(name, labels)
  local names, parts = {}, {}
  for label in pairs(labels) do names[#names + 1] = label end
  table.sort(names)
  for i, label in ipairs(names) do parts[i] = ("%s=%q"):format(label, labels[label]) end
  return #parts == 0 and name or name .. "{" .. table.concat(parts, ",") .. "}"
end

-- The octets of a quoted value from `at` on, and the place behind it.
local function read_value(line, at)
  local parts = {}
  while true do
    local plain, stop = line:match('^([^"\\]*)(["\\])', at)
    assert(plain, "a label's value has no end: " .. line)
    parts[#parts + 1] = plain
    at = at + #plain + 1
    if stop == '"' then return table.concat(parts), at end
    local escaped = line:match('^[\\"n]', at)
    assert(escaped, "no such escape: " .. line)
    parts[#parts + 1] = escaped == "n" and "\n" or escaped
    at = at + 1
  end
end

local function read_labels(line, at)
  local labels = {}
  if line:sub(at, at) ~= "{" then return labels, at end
  at = at + 1
  repeat
    local name, next_at = line:match('^([%a_][%w_]*)="()', at)
    assert(name, "no label: " .. line)
    assert(not labels[name], "a label comes twice: " .. line)
    labels[name], at = read_value(line, next_at)
    local mark = line:match("^[,}]", at)
    assert(mark, "neither , nor } behind a label: " .. line)
    at = at + 1
  until mark == "}"
  return labels, at
end

local SPECIAL = { ["+Inf"] = math.huge, ["-Inf"] = -math.huge }

local function read_number(text, line)
  local is_number = text:find "^%-?%d+%.?%d*$" or text:find "^%-?%d+%.?%d*e[-+]%d+$"
  local number = SPECIAL[text] or (is_number and tonumber(text))
  return assert(number, "no number: " .. line)
end

local function read_sample(line)
  local name, at = line:match "^([%a_:][%w_:]*)()"
  assert(name, "no name: " .. line)
  local labels
  labels, at = read_labels(line, at)
  local value = line:match("^ (%S+)$", at)
  assert(value, "no value, or more than one: " .. line)
  return { name = name, labels = labels, value = read_number(value, line) }
end

local function belongs(name, family, kind)
  if not SUFFIXES[kind] then return name == family end
  local suffix = name:sub(1, #family) == family and name:sub(#family + 1)
  return SUFFIXES[kind][suffix] == true
end

local function begin_family(self, line, open)
  local name, help = line:match "^# HELP ([%a_:][%w_:]*) (.+)$"
  if name then
    assert(not self.families[name], "a family comes twice: " .. line)
    assert(not help:gsub("\\\\", ""):gsub("\\n", ""):find "\\", "escape: " .. line)
    self.families[name] = { help = help }
    return name
  end
  local of, kind = line:match "^# TYPE ([%a_:][%w_:]*) (%l+)$"
  assert(of == open, "TYPE without its HELP in front: " .. line)
  assert(TYPES[kind] and not self.families[of].type, "type: " .. line)
  self.families[of].type = kind
  return of
end

local function add_sample(self, line, family)
  local sample = read_sample(line)
  local kind = assert(family and self.families[family].type, "no TYPE before: " .. line)
  assert(belongs(sample.name, family, kind), "among others' samples: " .. line)
  local key = key_of(sample.name, sample.labels)
  assert(not self.values[key], "a sample comes twice: " .. line)
  if kind == "counter" then
    assert(family:find "_total$", "a counter is called _total: " .. line)
  end
  assert(kind == "gauge" or sample.value >= 0, "less than nothing: " .. line)
  self.values[key] = sample.value
  self.samples[#self.samples + 1] = sample
end

-- Buckets rise with their bounds, and the last one has all.
local function check_histogram(self, family)
  local last = {} -- by the other labels
  for _, sample in ipairs(self.samples) do
    if sample.name == family .. "_bucket" then
      local rest = {}
      for name, value in pairs(sample.labels) do
        if name ~= "le" then rest[name] = value end
      end
      local bound = read_number(sample.labels.le, "le")
      local key = key_of("", rest)
      local before = last[key] or { bound = -math.huge, value = 0, rest = rest }
      assert(bound > before.bound and sample.value >= before.value, "bucket: " .. key)
      last[key] = { bound = bound, value = sample.value, rest = rest }
    end
  end
  for _, bucket in pairs(last) do
    assert(bucket.bound == math.huge, "there is no bucket +Inf")
    local count = self:get(family .. "_count", bucket.rest)
    assert(count == bucket.value, "count: " .. family)
    assert(self:get(family .. "_sum", bucket.rest), "no sum: " .. family)
  end
end

--- Reads a text; raises what is wrong with it.
---@param text string
---@return spec.Exposition
function M.read(text)
  local self = setmetatable({ families = {}, values = {}, samples = {} }, Exposition)
  local family
  assert(not utf8.find_invalid(text, 1, #text), "no UTF-8")
  assert(text:sub(-1) == "\n", "the last line has no end")
  for line in text:gmatch "([^\n]*)\n" do
    if line:sub(1, 1) == "#" then
      family = begin_family(self, line, family)
    else
      add_sample(self, line, family)
    end
  end
  for name, about in pairs(self.families) do
    if about.type == "histogram" then check_histogram(self, name) end
  end
  return self
end

--- The value of a sample, or nil.
---@param name string
---@param labels table<string, string>?
---@return number?
function Exposition:get(name, labels)
  return self.values[key_of(name, labels or {})]
end

--- The sum of all samples of this name that have these labels, and their number.
---@param name string
---@param labels table<string, string>?
---@return number sum
---@return integer count
function Exposition:sum(name, labels)
  local sum, count = 0, 0
  for _, sample in ipairs(self.samples) do
    local fits = sample.name == name
    for label, value in pairs(labels or {}) do
      fits = fits and sample.labels[label] == value
    end
    if fits then sum, count = sum + sample.value, count + 1 end
  end
  return sum, count
end

return M
