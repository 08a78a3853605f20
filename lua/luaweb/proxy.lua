-- SPDX-License-Identifier: MIT
-- web.proxy: a machine that has another server answer.  Where that is was decided when
-- the app was written: nothing in a request changes host, port or the path's beginning.
--
-- What is asked of the other server: the path of the URL that web.proxy got, then what
-- the template captured as `path`, octet for octet, then the query as it came.  With
--   web.any("/api{/path*}", web.proxy "http://127.0.0.1:9000/v1")
-- GET /api/a%2Fb/c?x=1 asks for /v1/a%2Fb/c?x=1.  A template without such a variable
-- leads to the URL itself.
local body = require "luaweb.request.body"
local fetch = require "luaweb.fetch"
local fields = require "luaweb.fetch.fields"
local head = require "luaweb.fetch.head"
local log = require "luaweb.log"
local machine = require "luaweb.machine"
local options_of = require "luaweb.fetch.options"
local own_fields = require "luaweb.proxy.fields"
local response = require "luaweb.response"
local uri = require "luaweb.fetch.uri"

local M = {}

---@class luaweb.ProxyOptions
---@field headers table?            fields that each request gets, instead of its own
---@field preserve_host boolean?    Host goes on as it came; false: it is the target's
---@field timeout number?           30 s until the head of the answer
---@field connect_timeout number?   10 s
---@field idle_timeout number?      60 s without an octet
---@field verify boolean?           as for web.fetch, and so are these:
---@field ca_file string?
---@field unix string?
---@field max_connections integer?
---@field trace boolean?            false: neither traceparent nor tracestate goes on
---@field on_error (fun(req: luaweb.Request, kind: string, message: string): any)?  what
--- to answer where the other server gave no answer; nil: what is answered without it

local TAKEN = { headers = true, timeout = true, connect_timeout = true,
  idle_timeout = true, verify = true, ca_file = true, unix = true,
  max_connections = true, trace = true }

local OWN = { preserve_host = "boolean", on_error = "function" }

local IDLE = 60 -- seconds

---@class luaweb.Proxy
---@field base luaweb.Uri
---@field fields string[][]        that each request gets
---@field call luaweb.FetchCall    what all requests have in common
---@field preserve_host boolean
---@field on_error function?

local MOST_ESCAPED = 3 -- times that a path may be escaped

local BAD_REQUEST, BAD_GATEWAY, LOOP = 400, 502, 508

local STATUS_OF = { timeout = 504, busy = 503 } -- by kind; of all others: 502

-- The path that goes on ---------------------------------------------------------------

-- The end of a path that a variable has captured, as it came: the decoded value can't
-- tell "/" from "%2F".  Ends of different lengths have values of different lengths, so
-- there is one.
local function captured(path, value)
  if type(value) == "table" then value = table.concat(value, "/") end
  for at in path:gmatch "()/" do
    if uri.decode(path:sub(at + 1)) == tostring(value) then return path:sub(at) end
  end
  error("web.proxy: the variable `path` is not the end of the path", 0)
end

-- Whether a segment leads upwards, in any writing: there are servers that take escapes
-- off first, or twice; for which "\" is a "/"; or that leave out what stands behind a
-- ";" or a NUL.
local function leads_up(path)
  local decoded = path
  for _ = 1, MOST_ESCAPED do decoded = uri.decode(decoded) end
  if decoded ~= uri.decode(decoded) then return true end
  for segment in decoded:gsub("\\", "/"):gmatch "[^/]+" do
    local name = segment:match "^[^;%z]*":gsub("%s+$", "")
    if name == "." or name == ".." then return true end
  end
  return false
end

-- Where a request goes; nil: nowhere, as it would leave the base.
local function uri_for(proxy, req)
  local base, value = proxy.base, req.params.path
  local path = base.path
  if value ~= nil then
    local more = captured(req.path, value)
    if leads_up(more) then return nil end
    path = path:gsub("/$", "") .. more
  end
  local query = req.target:match "%?([^#]*)"
  if base.query and query then query = base.query .. "&" .. query end
  return setmetatable({ path = path, query = query or base.query }, { __index = base })
end

-- Asking ------------------------------------------------------------------------------

-- The content of a request as what web.fetch sends; false: it has none.
local function content_of(req, given)
  local length = req.headers["content-length"]
  if req.headers["transfer-encoding"] then
    return req:chunks(), nil, function()
      return own_fields.of_trailers(req.trailers, given)
    end
  elseif length and tonumber(length) > 0 then
    return req:chunks(), tonumber(length)
  end
  return false
end

local function call_for(proxy, req, to)
  local call = setmetatable({ uri = to, method = req.method }, { __index = proxy.call })
  call.headers = own_fields.of_request(req, proxy.fields,
    proxy.preserve_host and req.host)
  call.body, call.body_size, call.trailers = content_of(req, proxy.fields)
  return call
end

-- Answering ---------------------------------------------------------------------------

local function pump(res, out)
  for piece in res:chunks() do out:write(piece) end
  for _, pair in ipairs(own_fields.of_trailers(res.trailers, {})) do
    out:trailer(pair[1], pair[2])
  end
end

local function note(req, message)
  log.error(("[%s] %s %s: web.proxy: %s"):format(req.id, req.method, req.path, message))
end

-- The content, piece by piece; when the client leaves, writing raises, and the other
-- server is left too.  When the other server leaves, the client's answer is cut.
local function stream_of(req, res)
  return response.streaming(function(out)
    local ok, err = pcall(pump, res, out)
    local failure = res.failure
    res:close()
    if ok then return end
    if not failure then error(err, 0) end
    note(req, ("%s: %s"):format(res.url:gsub("%?.*$", ""), failure[1]))
    error(body.GONE, 0) -- it has been told already
  end)
end

-- What content of no type may be taken for (RFC 9110 §8.3); else it became text.
local NO_TYPE = "application/octet-stream"

-- Answers that end with their head.
local IS_EMPTY = { [204] = true, [205] = true, [304] = true }

-- There must be one in a 401 (RFC 9110 §15.5.2); servers that only know their own
-- clients leave it out.
local NO_CHALLENGE = "Unknown"

local function add_what_lacks(answer, status, list)
  if not fields.get(list, "content-type") and not IS_EMPTY[status] then
    answer:type(NO_TYPE)
  end
  if status == 401 and not fields.get(list, "www-authenticate") then
    answer:header("WWW-Authenticate", NO_CHALLENGE)
  end
end

local function answer_of(req, res, list)
  if req.method == "HEAD" or IS_EMPTY[res.status] then res:drop() end
  local answer = stream_of(req, res):status(res.status)
  add_what_lacks(answer, res.status, list)
  for _, pair in ipairs(list) do answer:header(pair[1], pair[2]) end
  return answer
end

-- What the app wants to be answered, under the status that it has unless it says one.
local function shape(value, status)
  if type(value) == "string" then value = response.text(value) end
  if type(value) ~= "table" then return value end
  if getmetatable(value) ~= response.Response then value = response.json(value) end
  return value.code and value or value:status(status)
end

local function refuse(proxy, req, message, kind)
  note(req, message)
  local status = STATUS_OF[kind] or BAD_GATEWAY
  local shaped = proxy.on_error and proxy.on_error(req, kind, message)
  if shaped == nil or shaped == false then return response.status(status) end
  return shape(shaped, status)
end

-- Why what was answered is no answer, or nil: a redirect to nowhere, and "not modified"
-- to who has not read.
local function fault_of(req, status, list)
  if status == 304 then
    local reads = req.method == "GET" or req.method == "HEAD"
    return not reads and "it answered 304 to " .. req.method or nil
  elseif status > 300 and status < 400 and not fields.get(list, "location") then
    return ("it answered %d without a Location"):format(status)
  end
end

local function serve(proxy, req)
  if own_fields.is_circling(req) then return response.status(LOOP) end
  local to = uri_for(proxy, req)
  if not to then return response.status(BAD_REQUEST) end
  local res, message, kind = fetch.run(call_for(proxy, req, to))
  if not res then return refuse(proxy, req, message, kind) end
  local list = own_fields.of_response(res)
  local fault = fault_of(req, res.status, list)
  if fault then
    res:close()
    return refuse(proxy, req, fault, "protocol")
  end
  return answer_of(req, res, list)
end

-- Making it ---------------------------------------------------------------------------

-- The options of web.fetch that are the proxy's.
local function fetch_options(options)
  local taken = { stream = true, redirects = 0, decode = false, proxy = false,
    idle_timeout = IDLE }
  for name, value in pairs(options or {}) do
    if TAKEN[name] then
      taken[name] = value
    elseif not OWN[name] then
      error("web.proxy: there is no option " .. tostring(name), 0)
    end
  end
  return taken
end

local function check_own(options)
  for name, wanted in pairs(OWN) do
    local value = options[name]
    if value ~= nil and type(value) ~= wanted then
      error(("web.proxy: %s wants a %s"):format(name, wanted), 0)
    end
  end
  if type(options.ca_file) ~= "string" then return end
  local file, why = io.open(options.ca_file)
  if not file then error("web.proxy: ca_file: " .. why, 0) end
  file:close()
end

local function new(url, options)
  if options ~= nil and type(options) ~= "table" then
    error("web.proxy wants a table of options second, not a " .. type(options), 0)
  end
  check_own(options or {})
  local call, message = options_of.read("web.proxy", url, fetch_options(options))
  if not call then error("web.proxy: " .. message, 0) end
  call.is_bare = true
  if call.uri.userinfo then
    table.insert(call.headers, { "Authorization", head.basic(call.uri.userinfo) })
  end
  return { base = call.uri, fields = call.headers, call = call,
    preserve_host = options and options.preserve_host or false,
    on_error = options and options.on_error }
end

--- A machine that has another server answer, for web.any and web.resource, or to be
--- included: what is about one connection stays here, all else goes on as it is, both
--- ways and piece by piece.  Its field `handler` is the function that does so.
--- 502: the other server gave no answer, or none that is HTTP; 504: none in time; 503:
--- no connection became free; 508: the request runs in a circle; 400: its path leads
--- upwards.
--- OPTIONS is answered by the machine itself, unless that function is its
--- handle_options.
---@param url string   of what answers; its path is put in front
---@param options luaweb.ProxyOptions?
---@return luaweb.Machine
function M.proxy(url, options)
  local ok, proxy = pcall(new, url, options)
  if not ok then error(proxy, 2) end
  local function handler(req) return serve(proxy, req) end
  local made = machine.machine { do_any = handler,
    -- These are for the other server to judge, who knows what there is.
    precondition_given = false, content_coding_known = true, content_whole = true }
  made.handler = handler
  return made
end

return M
