-- SPDX-License-Identifier: MIT
-- Responses: what a handler may return beside a string, a table, nil and a number.  A
-- response is plain data; host/reply.lua sends it.
local cookie = require "luaweb.response.cookie"
local json = require "luaweb.json"
local token = require "luaweb.token"
local trace = require "luaweb.trace"

local blame = trace.blame

local M = {}

local HTML = "text/html; charset=utf-8"
local TEXT = "text/plain; charset=utf-8"
local JSON = "application/json"

---@class luaweb.Response
---@field private code integer?      nil: the status that follows from the request
---@field private media_type string?
---@field private content string?
---@field private fields string[]?   name, value, name, value, ...
---@field private stream fun(out: luaweb.Out)?
local Response = {}
Response.__index = Response
M.Response = Response

local function check(value, wanted, what)
  if type(value) ~= wanted then
    blame(("%s wants a %s, not a %s"):format(what, wanted, type(value)))
  end
  return value
end

local function check_status(code)
  if type(code) ~= "number" or code ~= math.floor(code) or code < 200 or code > 599 then
    blame("a status is a whole number from 200 to 599, not " .. tostring(code))
  end
  return code
end

local TOKEN = token.PATTERN
local MEDIA_TYPE = "^" .. TOKEN .. "/" .. TOKEN .. " *%f[;%z][^%c]*$"

-- It becomes a header as it is: nothing may follow it there.
local function check_media_type(value, what)
  if type(value) ~= "string" or not value:find(MEDIA_TYPE) then
    blame(("%s: %q is not a media type"):format(what, tostring(value)))
  end
  return value
end

-- Whole numbers without an exponent.
local function text_of(number)
  local is_whole = number == math.floor(number) and math.abs(number) <= 2 ^ 53
  return is_whole and ("%d"):format(number) or tostring(number)
end

local function new(media_type, content)
  return setmetatable({ media_type = media_type, content = content }, Response)
end

--- Sets the status.
---@param code integer   200 to 599
function Response:status(code)
  self.code = check_status(code)
  return self
end

--- Adds a header; several of one name are sent in order.
---@param name string
---@param value string|number
function Response:header(name, value)
  check(name, "string", "response:header")
  if type(value) == "number" then value = text_of(value) end
  check(value, "string", "response:header")
  local fields = self.fields or {}
  self.fields = fields
  fields[#fields + 1], fields[#fields + 2] = name, value
  return self
end

--- Adds a Set-Cookie header (options: luaweb.response.cookie).
---@param name string
---@param value string
---@param options table?
function Response:cookie(name, value, options)
  local field = cookie.set(name, value, options, 2)
  return self:header("Set-Cookie", field)
end

--- Sets the media type.
---@param media_type string   e.g. "text/csv; charset=utf-8"
function Response:type(media_type)
  self.media_type = check_media_type(media_type, "response:type")
  return self
end

--- Sets the content to plain text.
---@param text string
function Response:text(text)
  self.content = check(text, "string", "response:text")
  self.media_type = self.media_type or TEXT
  return self
end

--- Sets the content to a value as JSON.
---@param value any
function Response:json(value)
  self.content = json.encode(value)
  self.media_type = self.media_type or JSON
  return self
end

--- Plain text.
---@param s string
---@return luaweb.Response
function M.text(s) return new(TEXT, check(s, "string", "web.text")) end

--- HTML.
---@param s string
---@return luaweb.Response
function M.html(s) return new(HTML, check(s, "string", "web.html")) end

--- A value as JSON.
---@param value any
---@return luaweb.Response
function M.json(value) return new(JSON, json.encode(value)) end

--- Octets of any type.
---@param media_type string
---@param s string
---@return luaweb.Response
function M.bytes(media_type, s)
  check_media_type(media_type, "web.bytes")
  return new(media_type, check(s, "string", "web.bytes"))
end

--- A status without more; from 400 on a line of text goes with it.
---@param code integer
---@return luaweb.Response
function M.status(code)
  return setmetatable({ code = check_status(code) }, Response)
end

--- 303 See Other (change it with :status).
---@param uri string
---@return luaweb.Response
function M.redirect(uri)
  return M.status(303):header("Location", check(uri, "string", "web.redirect"))
end

--- 201 Created with Location.
---@param uri string
---@param content any?   a string or a table (JSON)
---@return luaweb.Response
function M.created(uri, content)
  local made = M.status(201):header("Location", check(uri, "string", "web.created"))
  if content == nil then return made end
  if type(content) == "string" then return made:text(content) end
  return made:json(content)
end

--- 202 Accepted, with Location where the work can be watched.
---@param uri string?
---@return luaweb.Response
function M.accepted(uri)
  local taken = M.status(202)
  return uri and taken:header("Location", check(uri, "string", "web.accepted")) or taken
end

--- Content that is written while it is sent: fn(out) calls out:write(s), which waits
--- while the client is slow.  A Content-Length header, where the length is known,
--- replaces the chunked coding.
---@param fn fun(out: luaweb.Out)
---@return luaweb.Response
function M.streaming(fn)
  return setmetatable({ stream = check(fn, "function", "web.streaming") }, Response)
end

M.JSON = JSON
return M
