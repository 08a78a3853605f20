-- SPDX-License-Identifier: MIT
-- Sends a request while its answer is waited for: a job of its own, so that an answer
-- that comes early is seen, and that waits while the server is slow.  What little fits
-- into the socket's buffer is sent at once, without a job.
-- RFC 9112 §7.1 (chunks), §9.5 (early answers).
local alt = require "luaweb.alt"
local fields = require "luaweb.fetch.fields"
local roster = require "luaweb.roster"
local spawn = require "luaweb.spawn"
local turn = require "luaweb.client.turn"

local M = {}

local AT_ONCE = 8192 -- octets that are tried without a job
local PART = 65536   -- octets that are sent in one go

---@class luaweb.Upload
---@field is_done boolean     all was sent
---@field is_stopped boolean  no more is wanted
---@field failure table|false { raised = any }: what the app's function raised
---@field private link luaweb.Link
---@field private call luaweb.FetchCall
---@field private clock luaweb.FetchClock
---@field private job luaweb.Job|false
local Upload = {}
Upload.__index = Upload

-- False when there is nobody to send to, or nothing more is wanted.
local function send_part(self, octets)
  turn.give_way()
  if self.is_stopped then return false end
  local sent = self.link.socket:send(octets)
  self.clock:move()
  return sent == true and not self.is_stopped
end

-- The same for any number of octets: each part that gets away is a sign of life.
local function send(self, octets)
  if #octets <= PART then return send_part(self, octets) end
  for at = 1, #octets, PART do
    if not send_part(self, octets:sub(at, at + PART - 1)) then return false end
  end
  return true
end

-- The next piece of the app's content that has octets; nil at its end.
local function next_piece(body)
  while true do
    local piece = body()
    if piece == nil then return nil end
    if type(piece) ~= "string" then
      error("web.fetch: body gave a " .. type(piece) .. ": its pieces are strings", 0)
    end
    if piece ~= "" then return piece end
  end
end

local function last_chunk(call)
  local lines = { "0" }
  local given = call.trailers and call.trailers()
  for _, pair in ipairs(fields.read("web.fetch: trailers", given)) do
    lines[#lines + 1] = pair[1] .. ": " .. pair[2]
  end
  return table.concat(lines, "\r\n") .. "\r\n\r\n"
end

local function send_chunks(self)
  local body = self.call.body
  for piece in next_piece, body do
    if not send(self, ("%x\r\n%s\r\n"):format(#piece, piece)) then return false end
  end
  return send(self, last_chunk(self.call))
end

local function fail_length(call, why)
  error(("web.fetch: body has %s octets than Content-Length says (%.0f)"):format(why,
    call.body_size), 0)
end

local function send_sized(self)
  local left = self.call.body_size
  for piece in next_piece, self.call.body do
    left = left - #piece
    if left < 0 then fail_length(self.call, "more") end
    if not send(self, piece) then return false end
  end
  if left > 0 then fail_length(self.call, "fewer") end
  return true
end

local function send_all(self, octets)
  if not send(self, octets) then return end
  local call, is_sent = self.call, true
  if type(call.body) == "function" then
    is_sent = (call.body_size and send_sized or send_chunks)(self)
  end
  self.is_done = is_sent
end

-- The answer can't be waited for when the request will never be whole.
local function run(self, octets)
  local ok, err = pcall(send_all, self, octets)
  if ok or self.is_stopped then return end
  if alt.is_cancelled(err) then err = "luaweb is stopping" end
  self.failure = { raised = err }
  self.link:close()
end

-- Sends without a job what goes without waiting: what is left.  There may be no room
-- at all on a connection whose server has answered, but not read, what came before; and
-- who waits for that room here could see neither an answer nor the end of its time.
local function send_at_once(self, octets)
  local count = self.link.socket:send_now(octets)
  self.clock:move()
  self.is_done = count == #octets
  return count and octets:sub(count + 1) or ""
end

--- Starts to send a request.  Waits for nothing.
---@param link luaweb.Link
---@param head string
---@param call luaweb.FetchCall
---@param clock luaweb.FetchClock
---@return luaweb.Upload
function M.start(link, head, call, clock)
  local octets = type(call.body) == "string" and head .. call.body or head
  local self = setmetatable({ link = link, call = call, clock = clock, is_done = false,
    is_stopped = false, failure = false, job = false }, Upload)
  if type(call.body) ~= "function" and #octets <= AT_ONCE then
    octets = send_at_once(self, octets)
    if octets == "" then return self end
  end
  self.job = spawn.spawn_in(roster.server, run, self, octets)
  return self
end

--- Sends no more.
function Upload:stop()
  self.is_stopped = true
  if self.job and not self.is_done then self.job:cancel "nothing more is wanted" end
end

return M
