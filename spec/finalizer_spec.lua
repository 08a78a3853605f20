-- SPDX-License-Identifier: MIT
-- What a finalizer of a request hears of its end: "ok", "failed" or "cancelled".
local alt = require "luaweb.alt"
local error_log = require "spec.support.error_log"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local handler, heard, cause
local function listen(req)
  scope.finally(function(status, err) heard, cause = status, err end)
  return handler(req)
end

local client = test.app(web.app {
  web.get("/", listen),
  web.resource("/short", web.machine { timeout = 0.05, handle_ok = listen }),
  web.resource("/leave", web.machine { half_close_grace = 0, handle_ok = listen }),
})

-- Runs a handler, and gives what its finalizer hears.
local function told(path, fn)
  handler, heard, cause = fn, nil, nil
  local conn = client:raw(("GET %s HTTP/1.1\r\nHost: x\r\n\r\n"):format(path))
  if path == "/leave" then
    web.sleep(0.02)
    conn:close()
  end
  for _ = 1, 500 do
    if heard then break end
    web.sleep(0.01)
  end
  conn:close()
  return heard
end

describe("a finalizer of a request hears", function()
  it("ok after an answer, and after one that was raised", function()
    assert.equal("ok", told("/", function() return "x" end))
    assert.equal("ok", told("/", function() error(409) end))
    assert.equal("ok", told("/", function() error(web.status(503)) end))
    assert.is_nil(cause)
  end)

  it("failed, and the error, after an error", function()
    error_log.of(function()
      assert.equal("failed", told("/", function() error("broken", 0) end))
    end)
    assert.equal("broken", cause)
  end)

  it("cancelled after a timeout and after the client's going", function()
    for _, path in ipairs { "/short", "/leave" } do
      error_log.of(function()
        assert.equal("cancelled", told(path, function() web.sleep(30) end))
      end)
      assert.is_true(alt.is_cancelled(cause))
    end
  end)

  it("cancelled also where the handler caught that and went on", function()
    for _, path in ipairs { "/short", "/leave" } do
      error_log.of(function()
        assert.equal("cancelled", told(path, function()
          pcall(web.sleep, 30)
          return "all is well"
        end))
      end)
      assert.is_true(alt.is_cancelled(cause))
    end
  end)
end)
