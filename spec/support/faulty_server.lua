-- SPDX-License-Identifier: MIT
-- Servers that do what they are told, right or wrong: a script in Lua has each accepted
-- connection as plain TCP on 127.0.0.1.  They run in the spec's own process, so that a
-- script and its spec share variables.  Owns the sockets: `clean` closes them, raises
-- what a script raised, and belongs into after_each.
local ffi = require "ffi"
local job = require "luaweb.job"
local raw = require "spec.support.raw_socket"
local web = require "luaweb"

local PAUSE = 0.002   -- seconds between two looks at a socket
local PATIENCE = 10   -- seconds after which a script that waits has failed

local M = {}

local servers = {}

-- Connections -------------------------------------------------------------------------

---@class spec.FaultyConn
---@field number integer    counts the connections of its server from 1
---@field private fd integer
---@field private rest string   received, and not taken yet
local Conn = {}
Conn.__index = Conn

-- Calls a function until it gives something but nil.
local function wait_until(what, fn)
  for _ = 1, PATIENCE / PAUSE do
    local result = fn()
    if result ~= nil then return result end
    web.sleep(PAUSE)
  end
  error("faulty server: nothing came of " .. what, 0)
end

-- See raw.receive.
local function receive_now(conn)
  if conn.fd < 0 then return false end
  return raw.receive(conn.fd)
end

--- Receives some octets; "" at the end, false after a reset.
---@return string|false
function Conn:receive()
  if self.rest ~= "" then
    local octets = self.rest
    self.rest = ""
    return octets
  end
  return wait_until("receiving", function() return receive_now(self) end)
end

-- Receives up to what `find` finds in it: the octets up to there.
local function receive_to(conn, what, find)
  return wait_until(what, function()
    local stop = find(conn.rest)
    if stop then
      local octets = conn.rest:sub(1, stop)
      conn.rest = conn.rest:sub(stop + 1)
      return octets
    end
    local more = receive_now(conn)
    if more == "" or more == false then return false end
    conn.rest = conn.rest .. (more or "")
  end)
end

--- Receives a head with its empty line; false when the client ends before that.
---@return string|false
function Conn:receive_head()
  return receive_to(self, "a head", function(rest)
    return select(2, rest:find("\r\n\r\n", 1, true))
  end)
end

--- Receives so many octets.
---@param count integer
---@return string|false
function Conn:receive_octets(count)
  return receive_to(self, count .. " octets", function(rest)
    return #rest >= count and count or nil
  end)
end

--- Receives a head and the content that it tells of, or the rest up to the last chunk.
---@return string|false head, string content
function Conn:receive_request()
  local head = self:receive_head()
  if not head then return false, "" end
  local length = head:match "\r\n[Cc]ontent%-[Ll]ength: (%d+)"
  if length then return head, self:receive_octets(tonumber(length)) or "" end
  if not head:find "\r\n[Tt]ransfer%-[Ee]ncoding: chunked" then return head, "" end
  return head, receive_to(self, "the last chunk", function(rest)
    local first = rest:sub(1, 3) == "0\r\n" and 1 or rest:find("\r\n0\r\n", 1, true)
    return first and select(2, rest:find("\r\n\r\n", first, true))
  end) or ""
end

--- Sends octets, with the patience of a server; false when the client is gone.
---@param octets string
---@return boolean
function Conn:send(octets)
  local at, size = ffi.cast("const char *", octets), #octets
  while size > 0 do
    local n = wait_until("sending", function()
      return self.fd >= 0 and raw.send(self.fd, at, size)
    end)
    if not n then return false end
    at, size = at + n, size - n
  end
  return true
end

--- Whether the client has closed, waited for.
---@return boolean
function Conn:is_left()
  return wait_until("the client's end", function()
    local octets = receive_now(self)
    if octets == "" or octets == false then return true end
  end)
end

--- Ends what the server sends.
function Conn:finish()
  raw.finish(self.fd)
end

--- Closes in order.
function Conn:close()
  if self.fd >= 0 then raw.close(self.fd) end
  self.fd = -1
end

--- Closes with a reset.
function Conn:reset()
  raw.close(self.fd, true)
  self.fd = -1
end

-- Servers -----------------------------------------------------------------------------

---@class spec.FaultyServer
---@field port integer
---@field url string                  "http://127.0.0.1:<port>"
---@field conns spec.FaultyConn[]     all that were accepted
---@field requests table[]            of M.answering: { head, content } each
---@field private fd integer
---@field private failure any
local Server = {}
Server.__index = Server

local function new_server(backlog)
  local fd, port = raw.listen(backlog)
  local server = setmetatable({ fd = fd, conns = {}, requests = {}, port = port,
    url = "http://127.0.0.1:" .. port }, Server)
  servers[#servers + 1] = server
  return server
end

local function run_script(server, script, conn)
  local ok, err = pcall(script, conn)
  if not ok and server.fd >= 0 then server.failure = server.failure or err end
  conn:close()
end

local function accept_all(server, script)
  while server.fd >= 0 do
    local fd = raw.accept(server.fd)
    if fd then
      local number = #server.conns + 1
      local conn = setmetatable({ fd = fd, rest = "", number = number }, Conn)
      server.conns[number] = conn
      job.background(run_script, server, script, conn)
    else
      web.sleep(PAUSE)
    end
  end
end

--- Starts a server; each connection gets a job that runs the script, and is closed when
--- that returns.
---@param script fun(conn: spec.FaultyConn)
---@return spec.FaultyServer
function M.start(script)
  local server = new_server(64)
  job.background(accept_all, server, script)
  return server
end

--- A server that has no room for one connection more: SYNs are not answered.
---@return spec.FaultyServer
function M.deaf()
  local server = new_server(0)
  server.fillers = {}
  for i = 1, 4 do server.fillers[i] = raw.connect(server.port) end
  return server
end

--- Answers every request of every connection, with the same octets or with what a
--- function gives; nil: it has answered itself.  Keeps them in `requests`.
---@param answer string|fun(head: string, content: string, conn: table): string?
---@return spec.FaultyServer
function M.answering(answer)
  local server
  server = M.start(function(conn)
    while true do
      local head, content = conn:receive_request()
      if not head then return end
      table.insert(server.requests, { head = head, content = content })
      local octets = answer
      if type(answer) == "function" then octets = answer(head, content, conn) end
      if octets then conn:send(octets) end
    end
  end)
  return server
end

--- An answer with content of known length.
---@param content string
---@param lines string?   further header lines
---@return string octets
function M.ok(content, lines)
  return ("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s"):format(#content,
    lines or "", content)
end

--- A port at which nobody listens.
---@return integer
function M.closed_port()
  local server = new_server(1)
  server:close()
  return server.port
end

--- Closes it and its connections.
function Server:close()
  if self.fd >= 0 then raw.close(self.fd) end
  self.fd = -1
  for _, fd in ipairs(self.fillers or {}) do raw.close(fd) end
  self.fillers = nil
  for _, conn in ipairs(self.conns) do conn:close() end
end

--- Closes all; raises the first error of a script.
function M.clean()
  local failure
  for _, server in ipairs(servers) do
    failure = failure or server.failure
    server:close()
  end
  servers = {}
  if failure then error(failure, 0) end
end

return M
