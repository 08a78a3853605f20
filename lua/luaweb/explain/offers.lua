-- SPDX-License-Identifier: MIT
-- Whether anything of what a machine offers goes with a request.  A machine that is not
-- strict sends its first offer where nothing goes, so this is asked of another one,
-- which has nothing but these offers and is strict about them: the server's own
-- negotiation.
local apps = require "luaweb.app"
local machines = require "luaweb.machine"
local probes = require "luaweb.probe"

local M = {}

local dimensions = {
  -- row                   field               offers                       in `strict`
  media_type_offered = { "Accept",          "available_media_types",     "media_type" },
  language_offered   = { "Accept-Language", "available_languages",       "language" },
  charset_offered    = { "Accept-Charset",  "available_charsets",        "charset" },
  coding_offered     = { "Accept-Encoding", "available_content_codings",
    "content_coding" },
}

local DEFAULT = { "media_type" } -- what a machine is strict about that doesn't say so

local function is_strict(config, name)
  local strict = config.strict or DEFAULT
  for _, one in ipairs(type(strict) == "table" and strict or {}) do
    if one == name then return true end
  end
  return false
end

local function fields_of(request, name)
  local list = {}
  for _, pair in ipairs(request.headers or {}) do
    if pair[1]:lower() == name:lower() then list[#list + 1] = pair end
  end
  return list
end

local function ask(offers, dimension, headers)
  local app = apps.app { machines.resource("/", machines.machine {
    [dimension[2]] = offers, strict = { dimension[3] }, handle_ok = "x",
  }) }
  local answer = probes.start(app, app:install()):ask { method = "GET", target = "/",
    headers = headers }
  return answer and answer.status == 200
end

--- Whether a row of negotiation that has answered yes has found what goes with the
--- request, and does not only go on because the machine isn't strict.
---@param asked luaweb.Asked
---@param row string
---@return boolean?   nil: not known here, or no row of negotiation
function M.goes(asked, row)
  local dimension, config = dimensions[row], asked.machine.config
  if not dimension then return nil end
  if is_strict(config, dimension[3]) then return true end
  if asked.is_past then return nil end -- it would be asked in front of others
  local offers = config[dimension[2]]
  if type(offers) ~= "table" then return nil end
  return ask(offers, dimension, fields_of(asked.request, dimension[1]))
end

--- Whether a row chooses among what the machine offers.
---@param row string
---@return boolean
function M.is_choice(row)
  return dimensions[row] ~= nil
end

return M
