-- SPDX-License-Identifier: MIT
-- A list of things to do, with the API of TodoBackend (https://todobackend.com).
--
--   /todos      GET: all of them    POST: one more    DELETE: all of them go
--   /todos/1    GET: one of them    PATCH: change it  DELETE: it goes
--
--   curl -i http://127.0.0.1:8080/todos \
--     -H 'Content-Type: application/json' -d '{"title": "tea"}'
local web = require "luaweb"

local ITEM = "/todos/{id}"

local todos = {}   -- by id: { id, title, completed, order, tag }
local last_id = 0

-- That of the path, or nil.  `params` below sees to it that the id is a number.
local function todo_of(req)
  return todos[req.params.id]
end

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
local function store(id, fields)
  local todo = { id = id, title = fields.title, completed = fields.completed,
    order = fields.order, tag = web.etag(web.random_token()) }
  todos[id] = todo
  return todo
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
    todo = todo_of(req) or error(404)
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
    for _, todo in pairs(todos) do all[#all + 1] = shown(todo, req) end
    table.sort(all, function(a, b) return a.id < b.id end)
    return all
  end,

  do_post = function(req)
    last_id = last_id + 1
    local todo = store(last_id, wanted(req))
    return web.created(url_of(todo, req), shown(todo, req)):header("ETag", todo.tag)
  end,

  do_delete = function() todos = {} end,
}

local item = web.machine {
  params = { id = "int" },
  patch_media_types = { "application/merge-patch+json", "application/json" },

  exists = function(req) return todo_of(req) ~= nil end,
  entity_tag = function(req) return todo_of(req).tag end,
  handle_ok = function(req) return shown(todo_of(req), req) end,

  do_patch = function(req)
    -- If-Match was looked at before the content came, and another client may have been
    -- faster: look again.  From here on nothing waits, so nobody comes between.
    if not req.precondition:holds(todo_of(req).tag) then return 412 end
    local todo = store(req.params.id, wanted(req))
    return web.json(shown(todo, req)):header("ETag", todo.tag)
  end,

  do_delete = function(req) todos[req.params.id] = nil end,
}

return web.app {
  includes = { core }, -- for paths that are not there, too: pages may read their 404
  workers = 1,         -- each worker would have todos of its own
  web.resource("/todos", list),
  web.resource(ITEM, item),
}
