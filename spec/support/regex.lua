-- SPDX-License-Identifier: MIT
-- Tells whether a text matches one of the regular expressions of the corpora (Python's
-- notation), by translating it into Lua patterns: alternatives and optional groups are
-- multiplied out, so that one expression becomes a list of patterns.  Owns nothing.  It
-- must never guess: what it does not know (lazy or grouped repetition, references,
-- look-around, anchors inside) is an error.
local M = {}

local CLASS = { s = "%s", d = "%d", w = "[%w_]", S = "%S", D = "%D" }
-- Marked, so that the place of an anchor can be checked when all is put together.
local ANCHOR = { ["^"] = "\0^", ["$"] = "\0$" }

local function fail(reader, what)
  error(("regex %q: %s at octet %d"):format(reader.source, what, reader.at), 0)
end

local function take(reader, pattern)
  local text = reader.source:match("^" .. pattern, reader.at)
  if text then reader.at = reader.at + #text end
  return text
end

local function literal(reader, char)
  if char:find "%a" and reader.ignores_case then
    return "[" .. char:lower() .. char:upper() .. "]"
  end
  return char:find "%p" and "%" .. char or char
end

-- One octet after a backslash.
local function escaped(reader)
  local char = take(reader, ".")
  if char and CLASS[char] then return CLASS[char] end
  if not char or not char:find "%p" then fail(reader, "unknown escape") end
  return literal(reader, char)
end

-- A class in brackets; the opening one is taken already.
local function bracket(reader)
  local parts = { take(reader, "%^") or "" }
  while not take(reader, "%]") do
    local part = take(reader, "%w%-%w")
    if part and part:find "%a" and reader.ignores_case then
      fail(reader, "range of letters without case")
    elseif not part and take(reader, "\\") then
      part = escaped(reader)
    elseif not part then
      local char = take(reader, "[^%[\128-\255]") or fail(reader, "bad class")
      part = literal(reader, char)
    end
    parts[#parts + 1] = part:gsub("^%[(.*)%]$", "%1")
  end
  return "[" .. table.concat(parts) .. "]"
end

-- The patterns for a single octet (`one`) under the quantifier that follows.
local function repeated(reader, one)
  local low, comma, high = reader.source:match("^{(%d+)(,?)(%d*)}", reader.at)
  local sign = low and take(reader, "%b{}") or take(reader, "[*+?]")
  if reader.source:find("^[*+?{]", reader.at) then fail(reader, "quantifier") end
  if not low then return { one .. (sign or "") } end
  low = tonumber(low)
  high = tonumber(high) or (comma == "" and low) or nil
  return { one:rep(low) .. (high and (one .. "?"):rep(high - low) or one .. "*") }
end

local alternatives

-- A group; the opening parenthesis is taken already.
local function group(reader)
  if not take(reader, "%?:") and take(reader, "%?") then
    fail(reader, "unknown group")
  end
  local list = alternatives(reader)
  if not take(reader, "%)") then fail(reader, "group without end") end
  if take(reader, "%?") then list[#list + 1] = "" end
  if reader.source:find("^[*+?{]", reader.at) then fail(reader, "repeated group") end
  return list
end

local function item(reader)
  if take(reader, "%(") then return group(reader) end
  local anchor = take(reader, "[%^$]")
  if anchor then return { ANCHOR[anchor] } end
  if take(reader, "%[") then return repeated(reader, bracket(reader)) end
  if take(reader, "%.") then return repeated(reader, "[^\n]") end
  if take(reader, "\\") then return repeated(reader, escaped(reader)) end
  local char = take(reader, "[^*+?{}%]\128-\255]") or fail(reader, "unexpected octet")
  return repeated(reader, literal(reader, char))
end

local function sequence(reader)
  local list = { "" }
  while reader.at <= #reader.source and not reader.source:find("^[|)]", reader.at) do
    local product = {}
    local tails = item(reader)
    for _, head in ipairs(list) do
      for _, tail in ipairs(tails) do product[#product + 1] = head .. tail end
    end
    list = product
  end
  return list
end

function alternatives(reader)
  local list = sequence(reader)
  while take(reader, "|") do
    for _, pattern in ipairs(sequence(reader)) do list[#list + 1] = pattern end
  end
  return list
end

local compiled = {}

--- Translates a regular expression.
---@param source string     ASCII; `(?i)` may stand at its start
---@return string[]         Lua patterns; the expression matches where one of them does
function M.patterns(source)
  if compiled[source] then return compiled[source] end
  local reader = { source = source, at = 1 }
  reader.ignores_case = take(reader, "%(%?i%)") ~= nil
  local list = alternatives(reader)
  if reader.at <= #source then fail(reader, "unexpected octet") end
  for i, pattern in ipairs(list) do
    pattern = pattern:gsub("^%z%^", "^"):gsub("%z%$$", "$")
    if pattern:find "%z" then fail(reader, "anchor inside") end
    list[i] = pattern
  end
  compiled[source] = list
  return list
end

--- Tells whether `source` matches anywhere in `text`.
---@param source string
---@param text string
---@return boolean
function M.matches(source, text)
  for _, pattern in ipairs(M.patterns(source)) do
    if text:find(pattern) then return true end
  end
  return false
end

return M
