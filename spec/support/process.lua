-- SPDX-License-Identifier: MIT
-- luaweb as a child process of a spec: its output, exit code and signals, and clients
-- of what it serves.  Owns the children and the files that it wrote: `clean` ends and
-- removes them, and belongs into after_each.  Reading from a child blocks the spec, but
-- never longer than the child may live.
local eventually = require "spec.support.eventually"
local http_reader = require "luaweb.client.http_reader"
local lfs = require "lfs"
local requests = require "spec.support.requests"
local socket = require "luaweb.client.socket"
local tree = require "spec.support.tree"

local M = {}

local LIFE = 60 -- seconds that a child may live, whatever happens to the spec

local children = {} -- those that were not waited for, by their pid
local folder        -- for files; made when first needed

--- The program that runs this spec, and that children are made of.
M.binary = lfs.symlinkattributes("/proc/self/exe", "target")

-- Files -------------------------------------------------------------------------------

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function output_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

--- A path in a folder that lasts until `clean`.
---@param name string
---@return string
function M.path(name)
  folder = folder or output_of("mktemp -d"):match "^[^\n]+"
  return folder .. "/" .. name
end

--- Writes such a file, and gives its path.
---@param name string
---@param text string
---@return string path
function M.file(name, text)
  local path = M.path(name)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

-- Children ----------------------------------------------------------------------------

---@class spec.Child
---@field pid integer
---@field output string    what was read of its standard output so far
---@field port integer?    where `serve` found it listening
---@field private pipe file*
---@field private errors_at string
local Child = {}
Child.__index = Child

-- What a server finds in its environment is the spec's business, not that of whoever
-- runs the specs; its socket and pid file lie in our folder.
local CLEAN = "unset RUNTIME_DIRECTORY NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID"
  .. " LISTEN_PID LISTEN_FDS LISTEN_FDNAMES; "

-- The inner shell becomes luaweb, so it is luaweb's pid that it prints.
local COMMAND = [[XDG_RUNTIME_DIR=%s timeout -k 1 %d bash -c '%s echo $$; exec "$@"' ]]
  .. [[bash %s 2>%s </dev/null; printf '\nexit %%d\n' $?]]

--- Starts luaweb with these arguments, after the shell has run `prelude`: what it
--- exports and opens is luaweb's.
---@param prelude string   has no single quote
---@param ... string
---@return spec.Child
function M.start_after(prelude, ...)
  local words = {}
  for i, word in ipairs { M.binary, ... } do words[i] = quoted(word) end
  local errors_at = M.path(("errors.%d"):format(math.random(2 ^ 31)))
  local pipe = assert(io.popen(COMMAND:format(quoted(folder), LIFE, CLEAN .. prelude,
    table.concat(words, " "), quoted(errors_at))))
  local child = setmetatable({ pipe = pipe, errors_at = errors_at, output = "" }, Child)
  child.pid = tonumber(pipe:read "*l")
  children[child.pid] = child
  return child
end

--- Starts luaweb with these arguments.
---@param ... string
---@return spec.Child
function M.start(...)
  return M.start_after("", ...)
end

--- Reads lines of standard output up to one that has the pattern.
---@param pattern string
---@return string ...   the captures
function Child:expect(pattern)
  for line in self.pipe:lines() do
    self.output = self.output .. line .. "\n"
    if line:find(pattern) then return line:match(pattern) end
    if line:find "^exit %d+$" then break end
  end
  self.pipe:close()
  children[self.pid] = nil
  error(("luaweb ended without printing %q:\n%s%s"):format(pattern, self.output,
    self:errors()), 2)
end

--- What it has written to standard error so far, but for the warning that it is root's
--- server, which only root's specs see.
---@return string
function Child:errors()
  return (read_file(self.errors_at):gsub("%S+ warn  serving as root: [^\n]*\n", ""))
end

--- How often its log has this pattern so far.
---@param pattern string
---@return integer
function Child:logged(pattern)
  return select(2, self:errors():gsub(pattern, ""))
end

--- Waits until its log has this pattern.
---@param pattern string
function Child:says(pattern)
  eventually("the log has " .. pattern, function() return self:logged(pattern) > 0 end)
end

--- Sends it a signal: to the master, where it serves.
---@param name string   see spec.support.tree
function Child:signal(name)
  tree.signal(self.pid, name)
end

--- The workers of a server: their pids, ascending.
---@return integer[]
function Child:workers()
  return tree.children(self.pid)
end

--- Sends its first worker, or a certain one, a signal.
---@param name string
---@param pid integer?
function Child:signal_worker(name, pid)
  tree.signal(pid or self:workers()[1], name)
end

local RELOADED = "reload: generation %d+ serves"

--- Has it reload, and waits until that has succeeded.
function Child:reload()
  local before = self:logged(RELOADED)
  self:signal "HUP"
  eventually("it has reloaded", function() return self:logged(RELOADED) > before end)
end

-- The masters that took over from it are no children of ours.
local function kill_all(child)
  tree.kill(child.pid)
  for pid in child:errors():gmatch "upgrade: pid (%d+) serves" do
    tree.kill(tonumber(pid))
  end
end

--- Waits for its end.
---@return integer code   128 + the signal that ended it
---@return string output
function Child:wait()
  self.output = self.output .. self.pipe:read "*a"
  self.pipe:close()
  children[self.pid] = nil
  local output, code = self.output:match "^(.*)\nexit (%d+)\n$"
  return tonumber(code), output
end

--- Asks it to end, and holds it to an end without a fault: no error in its log, and
--- code 0, which it has not when a sanitizer found something.
function Child:stop()
  self:signal "TERM"
  local code = self:wait()
  local faults = self:errors():match "[^\n]* error [^\n]*"
  if code ~= 0 or faults then
    error(("luaweb ended with code %d:\n%s"):format(code, self:errors()), 2)
  end
end

--- A number of /proc/<pid>/status of its first worker.
---@param name string   e.g. "VmRSS" (KiB)
---@return integer
function Child:status(name)
  local text = read_file(("/proc/%d/status"):format(self:workers()[1]))
  return tonumber(text:match(name .. ":%s*(%d+)"))
end

--- Runs luaweb to its end.
---@param ... string
---@return { code: integer, output: string, errors: string }
function M.run(...)
  local child = M.start(...)
  local code, output = child:wait()
  return { code = code, output = output, errors = child:errors() }
end

--- Serves an app on a free port of 127.0.0.1, with one worker where the flags name no
--- other number, and waits until it does.
---@param app string   its path
---@param ... string   flags
---@return spec.Child
function M.serve(app, ...)
  local child = M.start(app, "--listen", "127.0.0.1:0", "--workers", "1", ...)
  child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
  return child
end

--- Ends every child and removes the files.
function M.clean()
  for _, child in pairs(children) do
    kill_all(child)
    child:wait()
  end
  if folder then os.execute("rm -rf " .. quoted(folder)) end
  folder = nil
end

-- Clients -----------------------------------------------------------------------------

--- A connection to what it serves, with these octets sent.
---@param octets string?
---@return luaweb.Socket
function Child:connect(octets)
  local conn = assert(socket.connect("127.0.0.1", self.port))
  if octets then assert(conn:send(octets)) end
  return conn
end

M.get, M.post, M.post_chunks = requests.get, requests.post, requests.post_chunks

--- Receives until these are whole answers.
---@param conn luaweb.Socket
---@param count integer?     1
---@param methods string[]?  of their requests, GET where none is given
---@return luaweb.HttpMessage ...
function M.answers(conn, count, methods)
  local data = ""
  while true do
    local messages, rest, err = http_reader.read(data, methods or {}, false)
    if messages[count or 1] then return unpack(messages) end
    local octets, ending = conn:receive(10)
    if err or not octets then
      error(("no answer (%s), but %q"):format(err or ending, rest:sub(1, 200)), 2)
    end
    data = data .. octets
  end
end

--- Sends octets and receives the answer, on a connection of its own or a given one.
---@param octets string
---@param conn luaweb.Socket?
---@return luaweb.HttpMessage
function Child:ask(octets, conn)
  local own = conn or self:connect()
  assert(own:send(octets))
  local answer = M.answers(own)
  if not conn then own:close() end
  return answer
end

--- Receives until the server closes.
---@param conn luaweb.Socket
---@param seconds number?  10
---@return string received
---@return string ending    "closed", "reset" or "timeout"
function M.rest(conn, seconds)
  local parts = {}
  while true do
    local octets, ending = conn:receive(seconds or 10)
    if not octets then return table.concat(parts), ending end
    parts[#parts + 1] = octets
  end
end

return M
