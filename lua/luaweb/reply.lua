-- SPDX-License-Identifier: MIT
-- Turns what a handler returned into an answer: the only module that sends.
local abi = require "luaweb.abi"
local body = require "luaweb.body"
local ffi = require "ffi"
local json = require "luaweb.json"
local response = require "luaweb.response"
local sched = require "luaweb.sched"

local C, host = abi.C, abi.host
local Response = response.Response

local RESET_CONTENT = 205 -- has no content (RFC 9110 15.3.6)
local LARGE = 65536 -- octets of content above which it is sent piece by piece
local NO_BODY = tonumber(C.LUAWEB_REPLY_NO_BODY)
local STARTED = tonumber(C.LUAWEB_REPLY_STARTED)
local BAD_VALUE = tonumber(C.LUAWEB_REPLY_BAD_VALUE)

local M = {}

--- Raised where an answer is to be sent behind one that has begun.
M.STARTED = setmetatable({}, { __tostring = function()
  return "the answer had begun already"
end })

local header_errors = {
  [tonumber(C.LUAWEB_REPLY_BAD_NAME)] = "is not a header name",
  [tonumber(C.LUAWEB_REPLY_BAD_VALUE)] = "has a value with a control octet",
  [tonumber(C.LUAWEB_REPLY_TOO_LARGE)] = "makes the header section larger than 64 KiB",
}

local function add_header(r, generation, name, value)
  local result = C.luaweb_header(host, r, generation, name, #name, value, #value)
  local message = header_errors[result]
  if message then error(("the response header %q %s"):format(name, message), 0) end
end

---@class luaweb.Out   what a streaming handler writes to
local Out = {}
Out.__index = Out

-- An Out: [1] the C struct of the request, [2] its generation, [3] octets taken so far.

local function check_alive(out)
  if out[1].generation ~= out[2] then error(body.ENDED, 3) end
end

-- Writes all of a string, waiting while the client is slow.
local function write_all(r, generation, s, what)
  local at, size = ffi.cast("const char *", s), #s
  while size > 0 do
    local taken = C.luaweb_write(host, r, generation, at, size)
    if taken > 0 then
      at, size = at + taken, size - taken
    elseif taken == 0 then
      sched.wait(r.slot, what)
    elseif taken == C.LUAWEB_REPLY_TOO_LARGE then
      error("more content than Content-Length said", 0)
    else
      body.raise_gone(r, generation)
    end
  end
end

--- Sends some content; waits while the client is slow.
---@param s string|number
function Out:write(s)
  if type(s) == "number" then s = tostring(s) end
  if type(s) ~= "string" then error("out:write wants a string", 2) end
  check_alive(self)
  sched.check "out:write"
  write_all(self[1], self[2], s, "out:write")
  self[3] = self[3] + #s
end

--- Adds a trailer, which goes out behind chunked content (RFC 9110 6.5).
---@param name string
---@param value string
function Out:trailer(name, value)
  if type(name) ~= "string" or type(value) ~= "string" then
    error("out:trailer wants two strings", 2)
  end
  check_alive(self)
  add_header(self[1], self[2], name, value)
end

-- Raises what C said against an answer, but that nobody waits for it any more.
local function check(result)
  if result == STARTED then error(M.STARTED, 0) end
  if result == BAD_VALUE then error("the media type has a control octet", 0) end
end

local function begin(r, generation, status, media_type, length)
  local result = C.luaweb_start(host, r, generation, status, media_type,
    media_type and #media_type or 0, length)
  check(result)
  if result < 0 then error(body.GONE, 0) end
  return result ~= NO_BODY
end

local function send_large(r, generation, status, media_type, content)
  if begin(r, generation, status, media_type, #content) then
    write_all(r, generation, content, "sending")
  end
  C.luaweb_finish(host, r, generation)
end

local function send(r, generation, status, media_type, content)
  if #content > LARGE and status ~= RESET_CONTENT then
    return send_large(r, generation, status, media_type, content)
  end
  local result = C.luaweb_reply(host, r, generation, status, media_type,
    media_type and #media_type or 0, content, #content)
  check(result)
end

local function send_status(r, generation, status)
  local content = ""
  if status >= 400 then
    content = ("%d %s\n"):format(status, ffi.string(C.luaweb_reason(host, status)))
  end
  send(r, generation, status, nil, content)
end

-- What the app said that the content of a stream has, in octets.
local function declared_length(fields)
  local length
  for i = 1, fields and #fields or 0, 2 do
    if fields[i]:lower() == "content-length" then
      length = tonumber(fields[i + 1]:match "^%s*(%d+)%s*$")
    end
  end
  return length
end

local function send_stream(r, generation, value)
  local status, written = value.code or 200, nil
  if status == RESET_CONTENT then return send_status(r, generation, status) end
  if begin(r, generation, status, value.media_type, -1) then
    local out = setmetatable({ r, generation, 0 }, Out)
    value.stream(out)
    written = out[3]
  end
  local wanted = written and declared_length(value.fields) or 0
  if wanted > (written or 0) and r.generation == generation then
    error(("the content has %d octets, less than Content-Length said (%d)")
      :format(written, wanted), 0)
  end
  C.luaweb_finish(host, r, generation)
end

local function send_response(r, generation, value)
  local fields = value.fields
  if fields then
    for i = 1, #fields, 2 do add_header(r, generation, fields[i], fields[i + 1]) end
  end
  if value.stream then return send_stream(r, generation, value) end
  if not value.content then return send_status(r, generation, value.code or 204) end
  send(r, generation, value.code or 200, value.media_type, value.content)
end

local function send_table(r, generation, value)
  if getmetatable(value) == Response then
    return send_response(r, generation, value)
  end
  send(r, generation, 200, response.JSON, json.encode(value))
end

local senders = {
  table = send_table,
  ["nil"] = function(r, generation) send_status(r, generation, 204) end,
  number = function(r, generation, value)
    if value ~= math.floor(value) or value < 200 or value > 599 then
      error("a handler returned the number " .. value
        .. "; a status is a whole number from 200 to 599", 0)
    end
    send_status(r, generation, value)
  end,
  boolean = function(r, generation, value)
    if not value then error("a handler returned false: it failed", 0) end
    send_status(r, generation, 204)
  end,
}

--- Answers a request with what its handler returned.
---@param r ffi.cdata*         struct luaweb_request
---@param generation integer
---@param value any            string, table (JSON), nil or true (204), false (500), a
---                            status, or a luaweb.Response
function M.send(r, generation, value)
  if type(value) == "string" then return send(r, generation, 200, nil, value) end
  local sender = senders[type(value)]
  if not sender then
    error("a handler returned a " .. type(value) .. ", which is no answer", 0)
  end
  sender(r, generation, value)
end

--- Answers with something else than what was about to be sent; raises M.STARTED where
--- it is too late for that.
---@param r ffi.cdata*
---@param generation integer
---@param value any   what M.send takes
function M.send_instead(r, generation, value)
  C.luaweb_header_reset(host, r, generation)
  M.send(r, generation, value)
end

--- Cuts an answer off: the client sees that it is not whole.
---@param r ffi.cdata*
---@param generation integer
function M.cut(r, generation)
  C.luaweb_abort(host, r, generation)
end

return M
