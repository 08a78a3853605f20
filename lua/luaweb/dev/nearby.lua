-- SPDX-License-Identifier: MIT
-- Who may see what is shown while an app is developed: sources and requests.  A server
-- that listens on this machine only can still be asked by pages from anywhere, through
-- the browser here: by a name that leads to 127.0.0.1, or from another origin.
local M = {}

local is_open = false

--- Lets everybody see it.
function M.open() is_open = true end

-- Whether an authority ("localhost:8080") names this machine.
local function is_here(authority)
  local name = authority:lower():gsub(":%d+$", ""):gsub("%.$", "")
  return name == "" or name == "localhost" or name:find "%.localhost$" ~= nil
    or name:find "^127%.%d+%.%d+%.%d+$" ~= nil or name == "[::1]"
end

--- Whether a request comes from somebody at this machine, as far as can be known.
---@param req luaweb.Request
---@return boolean
function M.may_see(req)
  if is_open then return true end
  local origin = req.headers.origin
  local page = origin and (origin:match "^%w+://(.+)$" or "nowhere")
  -- A page's script can't write the field Host, but what stands for it with proxies.
  return is_here(req.host) and is_here(req.headers.host or "")
    and (not page or is_here(page))
end

return M
