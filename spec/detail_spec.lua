-- SPDX-License-Identifier: MIT
-- What a refusal says beside its status (core/machine/detail.h).
local test = require "luaweb.test"
local web = require "luaweb"

local client = test.app(web.app {
  web.resource("/offers", web.machine {
    available_media_types = { "text/html", "application/json" },
    available_languages = { "en", "de" },
    available_charsets = { "utf-8" },
    strict = { "media_type", "language", "charset" },
    handle_ok = "x",
  }),
  web.resource("/many", web.machine {
    available_media_types = (function()
      local list = {}
      for i = 1, 16 do list[i] = "text/" .. ("x"):rep(40) .. i end
      return list
    end)(),
    handle_ok = "x",
  }),
  web.resource("/guarded{/missing}", web.machine {
    exists = function(req) return not req.params.missing end,
    precondition_optional = false,
    do_put = function() end,
  }),
  web.resource("/small", web.machine { body_limit = 5, length_required = true,
    do_post = function() end }),
})

local function body(method, target, options)
  return client:request(method, target, options).body
end

describe("a refusal says", function()
  it("what there is to choose from", function()
    assert.equal("406 Not Acceptable: the media types are text/html, "
      .. "application/json\n",
      body("GET", "/offers", { headers = { Accept = "image/png" } }))
    assert.equal("406 Not Acceptable: the languages are en, de\n",
      body("GET", "/offers", { headers = { ["Accept-Language"] = "fr" } }))
    assert.equal("406 Not Acceptable: the charsets are utf-8\n",
      body("GET", "/offers", { headers = { ["Accept-Charset"] = "latin1" } }))
  end)

  it("no more of that than fits", function()
    local text = body("GET", "/many", { headers = { Accept = "image/png" } })
    assert.matches("^406 Not Acceptable: the media types are text/x+1, text/x+2", text)
    assert.is_true(#text < 512)
  end)

  it("which precondition it wants", function()
    assert.equal("428 Precondition Required: send If-Match with the entity tag that "
      .. "you have\n", body("PUT", "/guarded", { body = "x" }))
    assert.equal("428 Precondition Required: send If-None-Match: *\n",
      body("PUT", "/guarded/new", { body = "x" }))
  end)

  it("how much content is taken, and that its length is wanted", function()
    assert.equal("413 Content Too Large: at most 5 octets are taken\n",
      body("POST", "/small", { body = "123456" }))
    assert.equal("411 Length Required: send Content-Length\n", body("POST", "/small", {
      headers = { ["Transfer-Encoding"] = "chunked" },
      body = "1\r\nx\r\n0\r\n\r\n",
    }))
  end)

  it("it as problem details, where these are liked", function()
    local res = client:get("/offers", { headers = {
      Accept = "application/problem+json, image/png" } })
    assert.equal("application/problem+json", res.headers["content-type"])
    assert.equal("the media types are text/html, application/json", res:json().detail)
  end)
end)
