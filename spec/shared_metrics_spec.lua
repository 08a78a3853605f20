-- SPDX-License-Identifier: MIT
-- What the metrics say of tables that workers share.
local test = require "luaweb.test"
local web = require "luaweb"

local client = test.app(web.app { web.resource("/metrics", web.metrics()) })

describe("the metrics of a shared table", function()
  it("are the numbers of its stats, with its name", function()
    local t = web.shared('of"metrics', { size = "64k" })
    t:set("k", 1)
    t:set("l", "text")
    for _, key in ipairs { "k", "k", "m" } do t:get(key) end
    local page = client:get("/metrics").body
    local function number(name)
      local pattern = "\nluaweb_shared_" .. name .. '{table="of\\"metrics"} (%d+)\n'
      return tonumber(page:match(pattern))
    end
    assert.same({ 65536, 256, 2, 2, 1, 2, 0 }, { number "size_bytes",
      number "used_bytes", number "items", number "hits_total", number "misses_total",
      number "writes_total", number "evictions_total" })
    for _, name in ipairs { "capacity_bytes", "expired_total", "repairs_total",
      "resets_total", "busy_total" } do
      assert.is_number(number(name), name)
    end
    assert.matches("\n# TYPE luaweb_shared_hits_total counter\n", page)
  end)
end)
