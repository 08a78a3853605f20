-- SPDX-License-Identifier: MIT
-- Plays a case of h1-requests.jsonl over a raw connection and says whether what came is
-- one of its allowed outcomes.  A player owns its connection until `play` returns.  It
-- runs as a job and must never block.  It must never say that a connection is usable
-- before a probe request was answered on it, nor closed before the close was seen.
local web = require "luaweb"
local job = require "luaweb.job"
local now = require("system").monotime
local octets = require("spec.support.pure").octets
local judge = require "spec.support.h1_judge"
local reader = require "luaweb.client.http_reader"

local M = {}

local IDLE_S = 0.25       -- quiet time after which what needs no close is judged
local TIMEOUT_S = 2.5     -- for a case that names none
local SEND_S = 10         -- for one write
local PROBE = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

local Player = {}
Player.__index = Player

-- Takes what comes within `wait_s`; true when something happened.
function Player:receive(wait_s)
  if self.at_end then return false end
  local data, why = self.conn:receive(math.max(wait_s, 0))
  if data then
    self.raw = self.raw .. data
    return true
  end
  if why == "timeout" then return false end
  self.at_end, self.was_reset = true, why == "reset"
  return true
end

-- Receives, or only waits when nothing can come any more.
function Player:wait(wait_s)
  if self.at_end then return web.sleep(wait_s) end
  return self:receive(wait_s)
end

-- Sends in a job of its own while this one receives, so that neither side waits for the
-- other for ever.  False when the peer takes no more.
function Player:send(data)
  local taken, failure
  local deadline = now() + SEND_S
  job.spawn(function()
    local ok, result = pcall(self.conn.send, self.conn, data)
    taken, failure = ok and result or false, not ok and result or nil
  end)
  web.sleep(0)
  while taken == nil and now() < deadline do self:wait(0.005) end
  if failure then error(failure, 0) end
  return taken or false
end

function Player:seen()
  local messages, rest, err = reader.read(self.raw, self.methods, self.at_end)
  return { messages = messages, rest = rest, err = err,
           raw = self.raw, at_end = self.at_end }
end

-- A step gives "stop" (the rest is left out), or nil and what was wrong, or nothing.
local STEPS = {}

function STEPS.send(self, step)
  local data = octets(step.send)
  local size = step.split or math.max(#data, 1)
  for at = 1, #data, size do
    if not self:send(data:sub(at, at + size - 1)) then return "stop" end
    if step.split then
      web.sleep((step.pause_ms or 0) / 1000)
      self:receive(0)
    end
  end
end

function STEPS.pause_ms(_, step)
  web.sleep(step.pause_ms / 1000)
end

function STEPS.quiet_ms(self, step)
  local before, deadline = #self.raw, now() + step.quiet_ms / 1000
  while now() < deadline and not self.at_end and #self.raw == before do
    self:receive(deadline - now())
  end
  if self.at_end or #self.raw ~= before then
    return nil, ("not quiet: got %s%s"):format(
      judge.shown(self.raw:sub(before + 1)), self.at_end and " and a close" or "")
  end
end

function STEPS.await(self, step)
  local deadline = now() + (step.ms or 1000) / 1000
  self.awaited = self.awaited + 1
  while now() < deadline and not self.at_end do
    if step.await == "final" and #self:seen().messages >= self.awaited then break end
    if step.await == "any" and self.raw:find("\r\n\r\n", 1, true) then break end
    self:receive(deadline - now())
  end
  if step.if_final == "stop" and self:seen().messages[1] then return "stop" end
end

function STEPS.fin(self)
  self.has_finished = true
  self.conn:finish()
end

local STEP_ORDER = { "send", "pause_ms", "quiet_ms", "await", "fin" }

local function kind_of(step)
  for _, kind in ipairs(STEP_ORDER) do
    if step[kind] then return kind end
  end
  error("unknown step", 0)
end

-- Whether exactly one good answer came after the first `count`.
local function is_in_step(seen, count)
  local answer = seen.messages[count + 1]
  return #seen.messages == count + 1 and seen.rest == ""
    and answer.status >= 200 and answer.status < 300
end

-- Sends one more request: the connection must still be usable and in step.  Gives nil,
-- or what was wrong.
function Player:probe(count)
  local before = #self.raw
  if not self:send(PROBE) then return "send failed" end
  for i = 1, count do self.methods[i] = self.methods[i] or "GET" end
  self.methods[count + 1] = "GET"
  local deadline = now() + self.timeout_s
  local seen = self:seen()
  while #seen.messages <= count and not seen.err and not seen.at_end
    and now() < deadline do
    self:receive(deadline - now())
    seen = self:seen()
  end
  if seen.err then return seen.err end
  if is_in_step(seen, count) then return nil end
  return ("%s, in all: %s"):format(
    judge.shown(self.raw:sub(before + 1)), judge.summary(seen, self.was_reset))
end

-- Why the connection is not in the state that the outcome wants, and whether that is
-- final: after a failed probe nothing more can be learnt from the connection.
function Player:conn_fault(outcome, seen)
  local conn = outcome.conn or "any"
  if conn == "closed" then return not self.at_end and "connection still open" or nil end
  if conn == "any" then return nil end
  if self.at_end then return "connection was closed" end
  if self.has_finished then return nil end
  local fault = self:probe(#seen.messages)
  return fault and "the probe request failed: " .. fault, fault ~= nil
end

-- Tries the outcomes in order.  Gives whether one fits, what was seen (and why none
-- fits), and whether that is final.
function Player:judged()
  local seen, reasons = self:seen(), {}
  local summary = judge.summary(seen, self.was_reset)
  for i, outcome in ipairs(self.case.accept) do
    local reason, is_final = judge.fault(outcome, seen), false
    if not reason then reason, is_final = self:conn_fault(outcome, seen) end
    if not reason then return true, summary end
    reasons[i] = ("%d: %s"):format(i, reason)
    if is_final then return false, summary .. "; " .. reasons[i], true end
  end
  return false, summary .. "; " .. table.concat(reasons, " | "), false
end

-- Waits until an outcome fits or none can.
function Player:outcome()
  local start = now()
  local last, is_judged = start, false
  while true do
    local idle, left = now() - last, start + self.timeout_s - now()
    local is_last = self.at_end or left <= 0
    if is_last or (idle >= IDLE_S and not is_judged) then
      local ok, text, is_final = self:judged()
      if ok or is_final or is_last then return ok, text end
      is_judged = true
    end
    -- Once judged, only what comes now can change the judgement.
    local wait_s = is_judged and left or math.min(left, IDLE_S - idle)
    if self:receive(wait_s) then last, is_judged = now(), false end
  end
end

function Player:run()
  for _, step in ipairs(self.case.steps) do
    local verdict, failure = STEPS[kind_of(step)](self, step)
    if failure then return false, failure end
    if verdict == "stop" then break end
  end
  return self:outcome()
end

--- Plays one case.  Waits; call it from a job.
---@param case table                 a line of the corpus
---@param connect fun(): table       gives a new raw connection
---@return boolean ok
---@return string text               what was seen and, when not ok, why no outcome fits
function M.play(case, connect)
  local methods = {}
  for i, method in ipairs(case.methods or {}) do methods[i] = method end
  local conn = connect()
  local player = setmetatable({
    case = case, conn = conn, methods = methods,
    raw = "", at_end = false, was_reset = false, has_finished = false, awaited = 0,
    timeout_s = case.timeout_ms and case.timeout_ms / 1000 or TIMEOUT_S,
  }, Player)
  local done, ok, text = pcall(player.run, player)
  conn:close()
  if not done then error(ok, 0) end
  return ok, text
end

--- Plays all cases, `width` at a time.  Waits; call it from a job.
---@param cases table[]
---@param connect fun(): table
---@param width integer
---@return table<string, { ok: boolean, text: string }> by_id   a case that the player
---   could not play is not ok
function M.play_all(cases, connect, width)
  local outcomes, next_case, jobs = {}, 1, {}
  local function work()
    while cases[next_case] do
      local case = cases[next_case]
      next_case = next_case + 1
      local done, ok, text = pcall(M.play, case, connect)
      outcomes[case.id] = done and { ok = ok, text = text }
        or { ok = false, text = "the player failed: " .. tostring(ok) }
    end
  end
  for i = 1, width do jobs[i] = job.spawn(work) end
  for _, worker in ipairs(jobs) do worker:join() end
  return outcomes
end

return M
