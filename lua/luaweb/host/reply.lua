-- SPDX-License-Identifier: MIT
-- Turns what a handler returned into an answer: the only module that sends.  The status
-- is that of the walk (0) unless the app has said one; C adds what the machine says.
local abi = require "luaweb.abi"
local body = require "luaweb.request.body"
local ffi = require "ffi"
local json = require "luaweb.json"
local out = require "luaweb.host.out"
local response = require "luaweb.response"
local scopes = require "luaweb.request.scope"

local C, host, request_at = abi.C, abi.host, abi.request_at
local Response = response.Response

local NOT_MODIFIED = 304
local RESET_CONTENT = 205 -- has no content (RFC 9110 15.3.6)
local LARGE = 65536 -- octets of content above which it is sent piece by piece
local NO_BODY = tonumber(C.LUAWEB_REPLY_NO_BODY)
local STARTED = tonumber(C.LUAWEB_REPLY_STARTED)
local BAD_VALUE = tonumber(C.LUAWEB_REPLY_BAD_VALUE)
local ASK = tonumber(C.LUAWEB_REPLY_ASK)
local PART = tonumber(C.LUAWEB_REPLY_PART)
local INSTEAD = tonumber(C.LUAWEB_REPLY_INSTEAD)
local ANSWER_NO = tonumber(C.LUAWEB_ANSWER_NO)

local M = {}

--- Raised where an answer is to be sent behind one that has begun.
M.STARTED = setmetatable({}, { __tostring = function()
  return "the answer had begun already"
end })

--- Calls the functions that a walk asks for; host.lua fills it in.
---@type fun(index: integer, req: luaweb.Request, address: integer, generation: integer)
M.follow = nil

-- Raises what C said against an answer, but that nobody waits for it any more.
local function check(result)
  if result == STARTED then error(M.STARTED, 0) end
  if result == BAD_VALUE then error("the media type has a control octet", 0) end
end

local send -- below

local first, last = ffi.new "double[16]", ffi.new "double[16]"
local heads = ffi.new "struct luaweb_slice[17]"

-- The parts of the content that the client wants.
local function cut(r, generation, content)
  local count = C.luaweb_parts(host, r, generation, first, last, heads)
  local pieces = {}
  for i = 0, count - 1 do
    if count > 1 then pieces[#pieces + 1] = ffi.string(heads[i].data, heads[i].size) end
    pieces[#pieces + 1] = content:sub(first[i] + 1, last[i] + 1)
  end
  if count > 1 then
    pieces[#pieces + 1] = ffi.string(heads[count].data, heads[count].size)
  end
  return table.concat(pieces)
end

-- What has to come before an answer can go out: properties of the machine that it
-- needs, or the choice of what the client wants of it; or what speaks in its place.
local function send_again(result, req, status, media_type, content)
  local r, generation = request_at(req[1]), req[2]
  if result == PART then
    content = cut(r, generation, content)
  else
    M.follow(C.luaweb_pending(host, r, generation), req, req[1], generation)
    if result == INSTEAD then return end
  end
  return send(req, status, media_type, content)
end

-- Sends the head of an answer; true: content is to follow.
local function begin(req, status, media_type, length)
  local r, generation = request_at(req[1]), req[2]
  local size = media_type and #media_type or 0
  local result = C.luaweb_start(host, r, generation, status, media_type, size, length)
  while result == ASK do
    M.follow(C.luaweb_pending(host, r, generation), req, req[1], generation)
    result = C.luaweb_start(host, r, generation, status, media_type, size, length)
  end
  check(result)
  if result < 0 then error(body.GONE, 0) end
  return result ~= NO_BODY, result
end

local function send_large(req, status, media_type, content)
  local goes_on, result = begin(req, status, media_type, #content)
  if result == PART or result == INSTEAD then
    return send_again(result, req, status, media_type, content)
  end
  local r, generation = request_at(req[1]), req[2]
  if goes_on then out.write_all(r, generation, content, "sending") end
  C.luaweb_finish(host, r, generation)
end

function send(req, status, media_type, content)
  local r, generation = request_at(req[1]), req[2]
  if #content > LARGE and status ~= RESET_CONTENT then
    return send_large(req, status, media_type, content)
  end
  local result = C.luaweb_reply(host, r, generation, status, media_type,
    media_type and #media_type or 0, content, #content)
  if result == ASK or result == PART or result == INSTEAD then
    return send_again(result, req, status, media_type, content)
  end
  check(result)
end

--- Whether an app may end a walk with this number; 206 and 416 are C's.
---@param value number
function M.is_status(value)
  return value == math.floor(value) and value >= 200 and value <= 599 and value ~= 206
    and value ~= 416
end

--- A status from a function of the app, checked.
---@param value number
---@param req luaweb.Request
---@return integer
function M.status_of(value, req)
  local is_read = req.method == "GET" or req.method == "HEAD"
  if not M.is_status(value) or (value == 304 and not is_read) then
    error(("a handler returned the status %s; one is a whole number from 200 to "
      .. "599 (206 and 416 are luaweb's, and 304 is for reads)"):format(
        tostring(value)), 0)
  end
  return value
end

--- Ends the walk with a status, at which somebody may speak and else C does; or answers
--- the row that was asked.
local function answer(req, value)
  local r, generation = request_at(req[1]), req[2]
  local index = C.luaweb_answer(host, r, generation, value)
  if index < 0 then error(M.STARTED, 0) end
  if index > 0 then M.follow(index, req, req[1], generation) end
end

M.answer = answer

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

local function send_stream(req, status, value)
  local r, generation, written = request_at(req[1]), req[2], nil
  if status == RESET_CONTENT then return send(req, status, nil, "") end
  if begin(req, status, value.media_type, -1) then
    local stream = out.new(r, generation)
    value.stream(stream)
    written = stream[3]
  end
  if scopes.open > 0 then scopes.close() end
  local wanted = written and declared_length(value.fields) or 0
  if wanted > (written or 0) and r.generation == generation then
    error(("the content has %d octets, less than Content-Length said (%d)")
      :format(written, wanted), 0)
  end
  C.luaweb_finish(host, r, generation)
end

-- A response without content ends the walk at its status, where the app may have
-- something to say, and else C has from 300 on.
local function send_bare(req, status)
  if status == 0 then return answer(req, ANSWER_NO) end
  if not M.is_status(status) then return send(req, status, nil, "") end
  answer(req, status)
end

local function send_response(req, status, value)
  local r, generation, fields = request_at(req[1]), req[2], value.fields
  if status == 0 then status = value.code or 0 end
  if status == NOT_MODIFIED then M.status_of(status, req) end
  if fields then
    for i = 1, #fields, 2 do out.add_header(r, generation, fields[i], fields[i + 1]) end
  end
  if value.stream then return send_stream(req, status, value) end
  if not value.content then return send_bare(req, status) end
  send(req, status, value.media_type, value.content)
end

-- What is still to run, in the scope of its request.
local function is_stream(value)
  return type(value) == "table" and getmetatable(value) == Response and value.stream
end

local function send_table(req, status, value)
  if getmetatable(value) == Response then return send_response(req, status, value) end
  send(req, status, response.JSON, json.encode(value))
end

local senders = {
  table = send_table,
  ["nil"] = function(req) answer(req, ANSWER_NO) end,
  number = function(req, _, value) answer(req, M.status_of(value, req)) end,
  boolean = function(req, _, value)
    if not value then error("a handler returned false: it failed", 0) end
    answer(req, ANSWER_NO)
  end,
}

--- Answers a request with what a function of its machine returned.
---@param req luaweb.Request
---@param status integer   0: that of the walk, or what the value says
---@param value any        string, table (JSON), nil or true (204), false (500), a
---                        status, or a luaweb.Response
function M.send(req, status, value)
  if scopes.open > 0 and not is_stream(value) then scopes.close() end
  if type(value) == "string" then return send(req, status, nil, value) end
  local sender = senders[type(value)]
  if not sender then
    error("a handler returned a " .. type(value) .. ", which is no answer", 0)
  end
  sender(req, status, value)
end

--- Forgets what was about to be sent.
---@param r ffi.cdata*
---@param generation integer
function M.forget(r, generation)
  C.luaweb_header_reset(host, r, generation)
end

--- Cuts an answer off: the client sees that it is not whole.
---@param r ffi.cdata*
---@param generation integer
function M.cut(r, generation)
  C.luaweb_abort(host, r, generation)
end

return M
