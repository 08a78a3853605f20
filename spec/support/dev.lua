-- SPDX-License-Identifier: MIT
-- `luaweb dev` as a child process of a spec, and the files of the app that it serves.
-- process.clean ends and removes both.
local eventually = require "spec.support.eventually"
local process = require "spec.support.process"

local M = {}

---@class spec.DevApp: spec.Child
---@field script string

--- Writes files and serves one of them; waits until it does, whether it loads or not.
---@param files table<string, string>   by name; app.lua is served
---@param ... string                    flags
---@return spec.Child
function M.serve(files, ...)
  local names = {}
  for name in pairs(files) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do M.write(name, files[name]) end
  local child = process.start("dev", process.path "app.lua", "--listen",
    "127.0.0.1:0", ...)
  child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
  return child
end

--- Writes a file of the app, and the folders that it lies in.
---@param name string
---@param text string
---@return string path
function M.write(name, text)
  local folder = name:match "^(.*)/"
  if folder then os.execute("mkdir -p '" .. process.path(folder) .. "'") end
  return process.file(name, text)
end

--- Replaces a file as editors do: another one takes its name.
---@param name string
---@param text string
function M.replace(name, text)
  local other = M.write(name .. ".new~", text)
  assert(os.rename(other, process.path(name)))
end

--- What a GET answers.
---@param child spec.Child
---@param target string
---@param lines string?   further header lines
---@return luaweb.HttpMessage
function M.get(child, target, lines)
  return child:ask(process.get(target, lines))
end

--- Waits until a GET answers with this text in its content.
---@param child spec.Child
---@param target string
---@param text string
function M.shows(child, target, text)
  eventually(("%s has %q"):format(target, text), function()
    return M.get(child, target).body:find(text, 1, true)
  end)
end

--- Waits until its log has this text so often.
---@param child spec.Child
---@param text string
---@param count integer?   1
function M.logs(child, text, count)
  eventually(("the log has %q"):format(text), function()
    local _, found = child:errors():gsub(text:gsub("%p", "%%%0"), "")
    return found >= (count or 1)
  end)
end

--- An app that answers / with a text.
---@param text string
---@return string
function M.says(text)
  return ([[
local web = require "luaweb"
return web.app { web.get("/", function() return %q end) }
]]):format(text)
end

return M
