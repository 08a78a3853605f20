-- SPDX-License-Identifier: MIT
-- What a proxied request makes its answer depend on is for the other server to judge,
-- and so is the content that it sends.
local faulty = require "spec.support.faulty_server"
local pool = require "luaweb.fetch.pool"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(function()
  pool.close_idle()
  faulty.clean()
end)

-- What the other server was asked, and the status of the answer.
local function ask(method, fields, answer)
  local server = faulty.answering(answer or faulty.ok "fine")
  local client = test.app(web.app { web.any("/api{/path*}", web.proxy(server.url)) })
    :over_socket()
  local res = client:request(method, "/api/x", { headers = fields,
    body = method ~= "GET" and method ~= "DELETE" and "content" or nil })
  return server.requests[1], res.status
end

describe("a proxied request", function()
  local conditions = {
    { "PUT",    "If-Match",            '"v1"' },
    { "DELETE", "If-Match",            "*" },
    { "PUT",    "If-None-Match",       "*" },
    { "GET",    "If-None-Match",       "*" },
    { "GET",    "If-None-Match",       '"v1"' },
    { "PUT",    "If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT" },
    { "GET",    "If-Modified-Since",   "Mon, 01 Jan 2001 00:00:00 GMT" },
    { "PUT",    "Content-Encoding",    "gzip" },
    { "POST",   "Content-Encoding",    "unheard-of" },
    { "PUT",    "Content-Range",       "bytes 0-6/7" },
    { "GET",    "Range",               "bytes=0-1" },
  }
  for _, case in ipairs(conditions) do
    local method, name, value = unpack(case)
    it(("goes on with its condition: %s with %s: %s"):format(method, name, value),
      function()
        local request, status = ask(method, { [name] = value })
        assert.equal(200, status)
        assert.matches(("\n%s: %s\r"):format(name:lower(), value):gsub("[-*]", "%%%0"),
          request.head:lower():gsub("gmt", "GMT"):gsub("mon", "Mon"):gsub("jan", "Jan"))
      end)
  end

  it("brings back the 412 of the other server", function()
    local _, status = ask("PUT", { ["If-Match"] = '"v0"' },
      "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n")
    assert.equal(412, status)
  end)

  it("may be one that the app lets in", function()
    local server = faulty.answering(faulty.ok "fine")
    local client = test.app(web.app {
      web.resource("/api{/path*}", web.machine {
        web.proxy(server.url),
        allowed = function(req) return req.headers["x-key"] == "k" end,
      }),
    }):over_socket()
    assert.equal(403, client:get("/api/x").status)
    assert.equal(0, #server.requests)
    assert.equal(200, client:get("/api/x", { headers = { ["X-Key"] = "k" } }).status)
  end)
end)

describe("precondition_given = false", function()
  it("leaves conditions to the operation", function()
    local seen
    local client = test.app(web.app { web.resource("/", web.machine {
      precondition_given = false,
      do_put = function(req)
        seen = req.headers["if-match"]
        return 204
      end,
    }) })
    assert.equal(204, client:put("/", { headers = { ["If-Match"] = '"x"' } }).status)
    assert.equal('"x"', seen)
  end)
end)
