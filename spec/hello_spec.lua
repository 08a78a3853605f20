-- SPDX-License-Identifier: MIT
local client = require("luaweb.test").app "apps/hello.lua"

describe("apps/hello.lua", function()
  it("greets the world", function()
    local res = client:get "/hello"
    assert.equal(200, res.status)
    assert.equal("Hello, World!", res.body)
    assert.equal("text/plain; charset=utf-8", res.headers["content-type"])
  end)

  it("greets whom the path names", function()
    assert.equal("Hello, fred!", client:get("/hello/fred").body)
  end)

  it("decodes the name once", function()
    assert.equal("Hello, a%b/c!", client:get("/hello/a%25b%2Fc").body)
  end)

  it("answers HEAD with the head of GET and no content", function()
    local res = client:head "/hello"
    assert.equal(200, res.status)
    assert.equal("13", res.headers["content-length"])
    assert.equal("", res.body)
  end)

  it("lists its methods on OPTIONS and on a wrong method", function()
    local options, delete = client:options "/hello", client:delete "/hello"
    assert.equal(204, options.status)
    assert.equal("GET, HEAD, OPTIONS", options.headers.allow)
    assert.equal(405, delete.status)
    assert.equal("GET, HEAD, OPTIONS", delete.headers.allow)
  end)

  it("knows no other path", function()
    assert.equal(404, client:get("/missing").status)
  end)

  it("says the same over a real socket", function()
    local res = client:over_socket():get "/hello/fred"
    assert.equal("Hello, fred!", res.body)
  end)
end)
