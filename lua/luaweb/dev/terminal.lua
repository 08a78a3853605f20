-- SPDX-License-Identifier: MIT
-- The lines of source that have failed, on the terminal of who develops an app.
local ffi = require "ffi"
local source = require "luaweb.dev.source"

ffi.cdef "int isatty(int file);"

local M = {}

local function has_colours()
  local no_colour = os.getenv "NO_COLOR"
  return ffi.C.isatty(2) == 1 and (no_colour == nil or no_colour == "")
end

-- Octets that would steer the terminal.
local function harmless(text)
  return (text:gsub("[%z\1-\8\11-\31\127]", function(octet)
    return ("\\x%02x"):format(octet:byte())
  end))
end

--- Shows a place with the lines around it, on standard error.
---@param place string
---@param excerpt luaweb.Excerpt
function M.show(place, excerpt)
  local text = harmless(source.text(excerpt))
  if has_colours() then
    text = ("\n" .. text):gsub("\n(>[^\n]*)", "\n\27[31m%1\27[0m"):sub(2)
  end
  io.stderr:write(harmless(place), "\n", text, "\n")
end

return M
