-- SPDX-License-Identifier: MIT
-- The list of things to do (apps/todo.lua): what TodoBackend wants, and what HTTP adds.
local process = require "spec.support.process"
local web = require "luaweb"

local client = require("luaweb.test").app "apps/todo.lua"

local JSON = "application/json"
local MERGE_PATCH = "application/merge-patch+json"

-- A todo that the server has just made, and its answer.
local function add(fields)
  local res = client:post("/todos", { json = fields })
  assert.equal(201, res.status)
  return res:json(), res
end

-- The path of a todo, whose URL is absolute.
local function path_of(todo)
  return (todo.url:gsub("^http://localhost", ""))
end

local function patch(todo, fields, headers)
  return client:patch(path_of(todo), { json = fields, headers = headers })
end

local function get(todo, headers)
  return client:get(path_of(todo), { headers = headers })
end

local function titles()
  local list = {}
  for i, todo in ipairs(client:get("/todos"):json()) do list[i] = todo.title end
  return list
end

before_each(function()
  assert.equal(204, client:delete("/todos").status)
end)

describe("the list", function()
  it("is an empty array first", function()
    local res = client:get "/todos"
    assert.equal(200, res.status)
    assert.equal(JSON, res.headers["content-type"])
    assert.equal("[]", res.body)
  end)

  it("has what was posted, in that order", function()
    for _ = 1, 64 do add { title = "gone" } end -- ids from 1 on are in order anyway
    client:delete "/todos"
    local wanted = {}
    for i = 1, 12 do
      wanted[i] = "todo " .. i
      add { title = wanted[i] }
    end
    assert.same(wanted, titles())
  end)

  it("answers what was posted, and where it is", function()
    local todo, res = add { title = "walk the dog" }
    assert.equal(JSON, res.headers["content-type"])
    assert.equal(todo.url, res.headers.location)
    assert.same({ id = todo.id, url = "http://localhost/todos/" .. todo.id,
      title = "walk the dog", completed = false }, todo)
    assert.same({ todo }, client:get("/todos"):json())
  end)

  it("takes an order, and what is completed", function()
    local todo = add { title = "x", order = 523, completed = true }
    assert.equal(523, todo.order)
    assert.is_true(todo.completed)
    assert.same(todo, get(todo):json())
  end)

  it("keeps nothing that is no todo's", function()
    local todo = add { title = "x", id = 99, url = "http://example.org/", tag = "x",
      colour = "red" }
    assert.not_equal(99, todo.id)
    assert.same({ id = todo.id, url = "http://localhost/todos/" .. todo.id,
      title = "x", completed = false }, get(todo):json())
  end)

  it("is emptied by DELETE, which answers nothing", function()
    local todo = add { title = "x" }
    local res = client:delete "/todos"
    assert.equal(204, res.status)
    assert.equal("", res.body)
    assert.equal("[]", client:get("/todos").body)
    assert.equal(404, get(todo).status)
  end)

  it("names the host that the client has asked", function()
    local res = client:post("/todos", { json = { title = "x" },
      headers = { Host = "todo.example:8080" } })
    assert.matches("^http://todo%.example:8080/todos/%d+$", res:json().url)
    assert.equal(res:json().url, res.headers.location)
  end)
end)

describe("a todo", function()
  it("is where its URL says, until it is deleted", function()
    local todo, other = add { title = "x" }, add { title = "y" }
    assert.same(todo, get(todo):json())
    local res = client:delete(path_of(todo))
    assert.equal(204, res.status)
    assert.equal("", res.body)
    assert.equal(404, get(todo).status)
    assert.equal(404, client:delete(path_of(todo)).status)
    assert.equal(404, patch(todo, { title = "z" }).status)
    assert.same({ other }, client:get("/todos"):json())
  end)

  it("is changed by what PATCH names, and in nothing else", function()
    local todo = add { title = "x", order = 1 }
    for name, value in pairs { title = "feed the cat", completed = true, order = 95 } do
      local res = patch(todo, { [name] = value })
      todo[name] = value
      assert.equal(200, res.status)
      assert.equal(JSON, res.headers["content-type"])
      assert.same(todo, res:json())
      assert.same(todo, get(todo):json())
    end
    assert.same({ todo }, client:get("/todos"):json())
  end)

  it("takes a merge patch by its own name: null takes away", function()
    local todo = add { title = "x", order = 1 }
    local res = patch(todo, { order = web.null, title = "y" },
      { ["Content-Type"] = MERGE_PATCH })
    assert.equal(200, res.status)
    assert.same({ id = todo.id, url = todo.url, title = "y", completed = false },
      res:json())
  end)

  it("keeps its id and its URL whatever is sent", function()
    local todo = add { title = "x" }
    assert.same(todo, patch(todo, { id = 99, url = "http://example.org/" }):json())
  end)

  it("is not there under a name that is no number of one", function()
    for _, id in ipairs { "0", "-1", "x", "1.5", "99999", "" } do
      assert.equal(404, client:get("/todos/" .. id).status)
    end
  end)
end)

describe("content", function()
  local function refused(status, method, target, content, media_type)
    local res = client:request(method, target, { body = content,
      headers = { ["Content-Type"] = media_type or JSON } })
    assert.equal(status, res.status)
    return res
  end

  it("that is no JSON is a 400", function()
    local target = path_of(add { title = "x" })
    for _, content in ipairs { '{"title":', "title=x", "\255", "" } do
      refused(400, "POST", "/todos", content)
      refused(400, "PATCH", target, content)
    end
    assert.same({ "x" }, titles())
  end)

  it("that is no todo is a 422, which says why", function()
    local target = path_of(add { title = "x" })
    for content, detail in pairs {
      ['{"title":null}']              = "title wants a text",
      ['{"title":""}']                = "title wants a text",
      ['{"title":5}']                 = "title wants a text",
      ['{"title":"y","order":"1"}']   = "order wants a number",
      ['{"title":"y","completed":1}'] = "completed wants true or false",
      ['[]']                          = "title wants a text",
      ['"title"']                     = "a todo is a JSON object",
      ['null']                        = "a todo is a JSON object",
    } do
      for method, where in pairs { POST = "/todos", PATCH = target } do
        local res = refused(422, method, where, content)
        assert.equal("application/problem+json", res.headers["content-type"])
        assert.same({ title = "Unprocessable Content", status = 422, detail = detail },
          res:json())
      end
    end
    refused(422, "POST", "/todos", "{}")
    assert.same({ "x" }, titles())
  end)

  it("of another type is a 415, which says what is taken", function()
    local target = path_of(add { title = "x" })
    assert.equal(JSON,
      refused(415, "POST", "/todos", "title=y", "text/plain").headers.accept)
    assert.equal(MERGE_PATCH .. ", " .. JSON,
      refused(415, "PATCH", target, "title=y", "text/plain").headers["accept-patch"])
  end)

  it("of more than 64 KiB is a 413", function()
    refused(413, "POST", "/todos", ('{"title":"%s"}'):format(("x"):rep(65536)))
    assert.equal("[]", client:get("/todos").body)
  end)

  it("is JSON, for who takes that", function()
    for accept, status in pairs { ["text/html"] = 406, [JSON] = 200,
      ["text/plain, */*; q=0.01"] = 200 } do
      local res = client:get("/todos", { headers = { Accept = accept } })
      assert.equal(status, res.status)
    end
  end)
end)

describe("entity tags", function()
  it("are of a state: a change brings another", function()
    local todo, made = add { title = "x" }
    assert.equal(made.headers.etag, get(todo).headers.etag)
    local changed = patch(todo, { title = "y" })
    assert.not_equal(made.headers.etag, changed.headers.etag)
    assert.equal(changed.headers.etag, get(todo).headers.etag)
    assert.is_nil(client:get("/todos").headers.etag)
  end)

  it("save sending what the client has", function()
    local todo, made = add { title = "x" }
    local known = { ["If-None-Match"] = made.headers.etag }
    assert.equal(304, get(todo, known).status)
    patch(todo, { title = "y" })
    assert.equal(200, get(todo, known).status)
  end)

  it("keep who does not know the state from changing it", function()
    local todo, made = add { title = "x" }
    local known = { ["If-Match"] = made.headers.etag }
    assert.equal(200, patch(todo, { title = "y" }, known).status)
    assert.equal(412, patch(todo, { title = "z" }, known).status)
    assert.equal(412, client:delete(path_of(todo), { headers = known }).status)
    assert.equal("y", get(todo):json().title)
  end)

  -- Sends the head of a PATCH, lets something happen, sends the content.
  local function late_patch(todo, tag, happen)
    local conn = client:raw(("PATCH %s HTTP/1.1\r\nHost: localhost\r\nIf-Match: %s\r\n"
      .. "Content-Type: application/json\r\nContent-Length: 13\r\n"
      .. "Expect: 100-continue\r\n\r\n"):format(path_of(todo), tag))
    assert.matches("^HTTP/1.1 100 ", (conn:receive(10)))
    happen()
    conn:send '{"title":"z"}'
    local answer = process.answers(conn)
    conn:close()
    return answer.status
  end

  it("let one of two writers win, however late the content of the other", function()
    local todo, made = add { title = "x" }
    assert.equal(412, late_patch(todo, made.headers.etag, function()
      assert.equal(200, patch(todo, { title = "y" }).status)
    end))
    assert.equal("y", get(todo):json().title)
  end)

  it("bring nothing back that was deleted meanwhile", function()
    local todo, made = add { title = "x" }
    assert.equal(404, late_patch(todo, made.headers.etag, function()
      client:delete "/todos"
    end))
    assert.equal("[]", client:get("/todos").body)
  end)
end)

describe("pages of any origin", function()
  local function preflight(target)
    return client:options(target, { headers = { Origin = "http://todobackend.example",
      ["Access-Control-Request-Method"] = "GET" } }).headers
  end

  it("may use the methods, and say what they send", function()
    local list, item = preflight "/todos", preflight "/todos/1"
    assert.equal("*", list["access-control-allow-origin"])
    assert.equal("GET, HEAD, DELETE, POST, OPTIONS",
      list["access-control-allow-methods"])
    assert.equal("GET, HEAD, DELETE, PATCH, OPTIONS",
      item["access-control-allow-methods"])
    assert.equal("Content-Type, If-Match, If-None-Match",
      item["access-control-allow-headers"])
  end)

  it("may read what they get, refusals too", function()
    for target, status in pairs { ["/todos"] = 200, ["/todos/0"] = 404,
      ["/todos/x"] = 404, ["/missing"] = 404 } do
      local res = client:get(target, { headers = { Origin = "http://a.example" } })
      assert.equal(status, res.status)
      assert.equal("*", res.headers["access-control-allow-origin"])
      assert.equal("ETag, Location", res.headers["access-control-expose-headers"])
    end
  end)
end)
