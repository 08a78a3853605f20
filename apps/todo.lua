-- SPDX-License-Identifier: MIT
-- A list of things to do, with the API of TodoBackend (https://todobackend.com).
--
--   /todos      GET: all of them    POST: one more    DELETE: all of them go
--   /todos/1    GET: one of them    PATCH: change it  DELETE: it goes
--
--   curl -i http://127.0.0.1:8080/todos \
--     -H 'Content-Type: application/json' -d '{"title": "tea"}'
local json = require "luaweb.json"
local web = require "luaweb"

local ITEM = "/todos/{id}"

-- Requests go to several workers, each with Lua variables of its own.  What all of them
-- are to see stands in a shared table: as text, since it takes no Lua tables.  It is
-- memory: it outlives a reload, and not the server.
local todos = web.shared("todos", { size = "16m" })

local MOST = 10000 -- todos that are listed

local function key_of(id)
  return "todo:" .. id
end

-- That of an id, and its text in the table; or nil.
local function load(id)
  local text, message = todos:get(key_of(id))
  if message then error(message) end
  if text then return json.decode(text), text end
end

-- That of the path, as this request has first seen it: other workers may change it in
-- the middle.  `params` below sees to it that the id is a number.
local todo_of = web.memo(function(req) return (load(req.params.id)) end)

local function url_of(todo, req)
  return req.scheme .. "://" .. req.host .. web.url(ITEM, todo)
end

-- A todo as clients see it.
local function shown(todo, req)
  return { id = todo.id, url = url_of(todo, req), title = todo.title,
    completed = todo.completed, order = todo.order }
end

-- Keeps of `fields` what is a todo's.  Each state of a todo has a tag of its own, by
-- which clients recognize it.
local function new_state(id, fields)
  return { id = id, title = fields.title, completed = fields.completed,
    order = fields.order, tag = web.etag(web.random_token()) }
end

-- What is wrong with what somebody wants for a todo, or nil.
local function fault_of(fields)
  if type(fields) ~= "table" then return "a todo is a JSON object" end
  local title, completed, order = fields.title, fields.completed, fields.order
  if type(title) ~= "string" or title == "" then return "title wants a text" end
  if type(completed) ~= "boolean" then return "completed wants true or false" end
  if order ~= nil and type(order) ~= "number" then return "order wants a number" end
end

-- What a todo will be: what it is, or an empty one, merged with what the client sends.
-- Computed once for each request, though two functions below ask for it.
local wanted = web.memo(function(req)
  local patch = req:json()      -- what is not JSON is answered with 400
  local todo = { completed = false }
  if req.params.id then
    -- req:json() has waited for the content, and others were served in the meantime:
    -- the todo may be gone.  error(404) ends the request with that answer.
    todo = load(req.params.id) or error(404)
  end
  return web.json_merge(todo, patch)
end)

-- What both resources have in common.  A key that has no use for a method, as
-- content_valid has none for GET, costs it nothing.
local core = web.machine {
  -- Pages of any origin may use this, with whatever methods a resource has.
  web.cors {
    origins = "*",
    headers = { "Content-Type", "If-Match", "If-None-Match" },
    expose = { "ETag", "Location" },
  },
  available_media_types = { "application/json" },
  body_limit = 64 * 1024,

  content_valid = function(req)
    local fault = fault_of(wanted(req))
    if not fault then return true end
    return web.json { title = "Unprocessable Content", status = 422, detail = fault }
      :type("application/problem+json"):status(422)
  end,
}

local list = web.machine {
  acceptable_media_types = { "application/json" },

  handle_ok = function(req)
    local all = web.array {}    -- [] in JSON even when it is empty
    for _, key in ipairs(assert(todos:keys("todo:", MOST))) do
      local todo = load(key:match "%d+$")
      if todo then all[#all + 1] = shown(todo, req) end -- it may just have gone
    end
    table.sort(all, function(a, b) return a.id < b.id end)
    return all
  end,

  do_post = function(req)
    local todo, is_new
    repeat -- the table may have forgotten the last id, when it was full
      todo = new_state(assert(todos:incr "last id"), wanted(req))
      is_new = todos:add(key_of(todo.id), json.encode(todo))
    until is_new ~= false
    if not is_new then return 503 end
    return web.created(url_of(todo, req), shown(todo, req)):header("ETag", todo.tag)
  end,

  do_delete = function()
    for _, key in ipairs(assert(todos:keys("todo:", MOST))) do todos:delete(key) end
  end,
}

local item = web.machine {
  params = { id = "int" },
  patch_media_types = { "application/merge-patch+json", "application/json" },

  exists = function(req) return todo_of(req) ~= nil end,
  entity_tag = function(req) return todo_of(req).tag end,
  handle_ok = function(req) return shown(todo_of(req), req) end,

  do_patch = function(req)
    while true do
      -- If-Match was looked at before the content came, and another client may have
      -- been faster: look again.
      local todo, text = load(req.params.id)
      if not todo then return 404 end
      if not req.precondition:holds(todo.tag) then return 412 end
      -- Another worker may write between this look and our write: then nothing is
      -- written, and all begins again.
      local changed = new_state(todo.id, web.json_merge(todo, req:json()))
      local done, message = todos:compare_and_set(key_of(todo.id), text,
        json.encode(changed))
      if message then error(message) end
      if done then
        return web.json(shown(changed, req)):header("ETag", changed.tag)
      end
    end
  end,

  do_delete = function(req) todos:delete(key_of(req.params.id)) end,
}

return web.app {
  includes = { core }, -- for paths that are not there, too: pages may read their 404
  web.resource("/todos", list),
  web.resource(ITEM, item),
}
