-- SPDX-License-Identifier: MIT
-- A client for specs: speaks HTTP to an app in this process, through a transport in
-- memory or a real socket.  The same octets, parser and machines as any client's.
local abi = require "luaweb.abi"
local app = require "luaweb.app"
local ffi = require "ffi"
local http_reader = require "luaweb.client.http_reader"
local json = require "luaweb.json"
local socket = require "luaweb.client.socket"

local C = abi.C
local M = {}

local TIMEOUT = 10 -- seconds for a whole answer

---@class luaweb.TestClient
---@field private capp ffi.cdata*
---@field private port integer?
---@field url string?   of one over a socket, e.g. "http://127.0.0.1:40123"
local Client = {}
Client.__index = Client

---@class luaweb.TestResponse
---@field status integer
---@field headers table<string, string>   by lower-case name; several joined by ", "
---@field lines string[][]                name and value as received, in order
---@field body string
local Response = {}
Response.__index = Response

--- The body read as JSON.
function Response:json()
  return assert(json.decode(self.body))
end

--- Loads an app in this Lua state and gives a client for it.
---@param what string|luaweb.App   the path of a script, or what web.app returned
---@return luaweb.TestClient
function M.app(what)
  local loaded = type(what) == "string" and app.load(what) or what
  if getmetatable(loaded) ~= app.App then
    error("test.app wants the path of an app, or an app", 2)
  end
  local capp = loaded:install()
  if loaded.on_start then loaded.on_start(loaded) end
  return setmetatable({ capp = capp }, Client)
end

--- The same app behind a real socket on 127.0.0.1.
---@return luaweb.TestClient
function Client:over_socket()
  local port = C.luaweb_listen(abi.host, self.capp, "127.0.0.1", 0)
  if port < 0 then
    local why = ffi.string(C.luaweb_error(abi.host, port))
    error("can't listen on 127.0.0.1: " .. why, 2)
  end
  return setmetatable({ capp = self.capp, port = port,
    url = "http://127.0.0.1:" .. port }, Client)
end

--- A raw connection: octets in, octets out.
---@return luaweb.Socket
function Client:connect()
  if self.port then return assert(socket.connect("127.0.0.1", self.port)) end
  return assert(socket.memory(self.capp))
end

--- A raw connection on which these octets are sent at once.
---@param octets string
---@return luaweb.Socket
function Client:raw(octets)
  local conn = self:connect()
  conn:send(octets)
  return conn
end

local function add(lines, name, value)
  lines[#lines + 1] = ("%s: %s"):format(name, value)
end

-- The headers that the caller wants, and which names they have.
local function add_given(lines, headers)
  local seen = {}
  for name, value in pairs(headers or {}) do
    seen[name:lower()] = true
    for _, one in ipairs(type(value) == "table" and value or { value }) do
      add(lines, name, one)
    end
  end
  return seen
end

local function write_request(method, target, options)
  local lines = { ("%s %s HTTP/1.1"):format(method, target) }
  local seen = add_given(lines, options.headers)
  local body = options.body
  if options.json ~= nil then
    body = json.encode(options.json)
    if not seen["content-type"] then add(lines, "Content-Type", "application/json") end
  end
  if not seen.host then table.insert(lines, 2, "Host: localhost") end
  local framed = seen["content-length"] or seen["transfer-encoding"]
  if body and not framed then add(lines, "Content-Length", #body) end
  if not seen.connection then add(lines, "Connection", "close") end
  return table.concat(lines, "\r\n") .. "\r\n\r\n" .. (body or "")
end

local function to_response(message)
  local headers = {}
  for _, pair in ipairs(message.headers) do
    local name, value = pair[1]:lower(), pair[2]
    headers[name] = headers[name] and headers[name] .. ", " .. value or value
  end
  return setmetatable({ status = message.status, headers = headers,
    lines = message.headers, body = message.body }, Response)
end

local PAUSE = 0.02 -- seconds without octets, after which an answer may be whole

-- Receives until there are `wanted` octets, a pause, or the end.
local function receive_until(conn, parts, wanted, timeout)
  local size = #parts[1]
  while true do
    local octets, ending = conn:receive(size < wanted and PAUSE or timeout)
    if ending then return ending end
    parts[#parts + 1], size = octets, size + #octets
    if size >= wanted then return nil end
  end
end

-- Receives a whole answer.  It is taken apart only when the octets have doubled or
-- paused, so that the time stays linear in them.
local function read_answer(conn, method, timeout)
  local all, wanted = "", 0
  while true do
    local parts = { all }
    local ending = receive_until(conn, parts, wanted, timeout)
    all = table.concat(parts)
    local is_end = ending ~= nil and ending ~= "timeout"
    local messages, _, err = http_reader.read(all, { method }, is_end)
    if messages[1] then return to_response(messages[1]) end
    if ending == "timeout" and wanted == 0 then
      err = ("not whole within %g s"):format(timeout)
    end
    err = err or (is_end and ending)
    if err then
      error(("no answer: %s; received: %q"):format(err, all:sub(1, 200)), 3)
    end
    wanted = ending and 0 or #all * 2
  end
end

local request_options = { headers = true, body = true, json = true, timeout = true }

--- Sends a request on a connection of its own and waits for the whole answer.
---@param method string
---@param target string    e.g. "/hello?q=1", sent as it is
---@param options { headers: table?, body: string?, json: any, timeout: number? }?
---@return luaweb.TestResponse
function Client:request(method, target, options)
  options = options or {}
  for key in pairs(options) do
    if not request_options[key] then
      error(("client:request has no option %s"):format(tostring(key)), 2)
    end
  end
  local conn = self:raw(write_request(method, target, options))
  local ok, answer = pcall(read_answer, conn, method, options.timeout or TIMEOUT)
  conn:close()
  if not ok then error(answer, 2) end
  return answer
end

local methods = { "get", "head", "post", "put", "patch", "delete", "options" }

for _, method in ipairs(methods) do
  --- client:get(target, options) and so on: request with that method.
  Client[method] = function(self, target, options)
    return self:request(method:upper(), target, options)
  end
end

return M
