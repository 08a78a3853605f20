-- SPDX-License-Identifier: MIT
-- JSON pointers taken apart, and shown in messages. Owns nothing. Must never look at
-- the document that they point into. RFC 6901 §3, §4.
local json_string = require "luaweb.json.string"

local M = {}

local QUOTED_SIZE = 100                        -- octets that a message shows of a text

--- The names and indexes that lead from the whole document to a value.
---@param pointer string     "/a/0/b~1c"; "" is the whole document
---@param most integer       how many there may be
---@return string[]? steps   {"a", "0", "b/c"}; nil: no pointer, or too many steps
---@return string? message
---source: RFC 6901 §3, §4
function M.parse(pointer, most)
  local steps, size = {}, 0
  if pointer == "" then return steps end
  if pointer:sub(1, 1) ~= "/" then return nil, 'a pointer begins with "/"' end
  if pointer:find "~[^01]" or pointer:sub(-1) == "~" then
    return nil, 'in a pointer 0 or 1 follows "~"'
  end
  for step in pointer:gmatch "/([^/]*)" do
    if size == most then return nil, ("a pointer has at most %d steps"):format(most) end
    size = size + 1
    steps[size] = step:gsub("~1", "/"):gsub("~0", "~")
  end
  return steps
end

--- Shows a text that a peer sent: as one line, and cut when it is long.
---@param text string
---@return string quoted
function M.quote(text)
  if #text > QUOTED_SIZE then
    text = text:sub(1, QUOTED_SIZE):gsub("[\192-\255]?[\128-\191]*$", "") .. "..."
  end
  return '"' .. (json_string.escape(text) or text:gsub("[^ -~]", "?")) .. '"'
end

return M
