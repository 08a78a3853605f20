-- SPDX-License-Identifier: MIT
-- What may be demanded of a value (core/route/value.h).
local pure = require "spec.support.pure"
local templates = require "spec.route.templates"

local C = pure.load "route/value"

local KINDS = {
  int = {
    yes = { "0", "7", "-7", "-0", "007", "9007199254740992", "-9007199254740992" },
    no = { "", "-", "+7", "7.0", "1e3", "0x10", " 7", "7 ", "9007199254740993", "--7",
      "-9007199254740993", "99999999999999999999999999", "a", "7a", "٧" },
  },
  number = {
    yes = { "0", "-1.5", "3.25e10", "1E-7", "1e+3", "007.50", "9e307", "0.5e308",
      "1e-400", "0.0001e300", "00000000000000001e307" },
    no = { "", "-", ".5", "5.", "1e", "1e+", "e5", "+1", "inf", "nan", "0x1p3", "1e309",
      "10e308", "1e99999999999999999999", "1,5", "1 ", "1.2.3", "1e5e5", "-.5" },
  },
  uuid = {
    yes = { "00000000-0000-0000-0000-000000000000",
      "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6" },
    no = { "", "f81d4fae7dec11d0a76500a0c91e6bf6",
      "f81d4fae-7dec-11d0-a765-00a0c91e6bfg", "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
      "f81d4fae-7dec-11d0-a765-00a0c91e6bf66", "f81d4fae_7dec-11d0-a765-00a0c91e6bf6",
      "{81d4fae-7dec-11d0-a765-00a0c91e6bf6}" },
  },
}

for kind, values in pairs(KINDS) do
  describe("demanding " .. kind, function()
    local demand = C["LUAWEB_DEMAND_" .. kind:upper()]
    for _, text in ipairs(values.yes) do
      it(("is met by %q"):format(text), function()
        assert.is_true(C.lw_value_meets(demand, templates.slice(text)))
      end)
    end
    for _, text in ipairs(values.no) do
      it(("is not met by %q"):format(text), function()
        assert.is_false(C.lw_value_meets(demand, templates.slice(text)))
      end)
    end
  end)
end

describe("demanding nothing", function()
  it("is met by anything", function()
    for _, text in ipairs { "", "a", "7" } do
      assert.is_true(C.lw_value_meets(C.LUAWEB_DEMAND_NONE, templates.slice(text)))
      assert.is_true(C.lw_value_meets(C.LUAWEB_DEMAND_TEXT, templates.slice(text)))
    end
  end)
end)
