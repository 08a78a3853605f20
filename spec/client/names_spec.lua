-- SPDX-License-Identifier: MIT
-- Host names of other servers (lua/luaweb/client/names.lua): by the rules of the
-- system, without blocking, a bounded number at once, kept for a short while.
local abi = require "luaweb.abi"
local error_of = require("spec.support.client").error_of
local job = require "luaweb.job"
local names = require "luaweb.client.names"
local web = require "luaweb"

local C, host = abi.C, abi.host

local AT_ONCE, IN_LINE = 4, 256

local begun = {} -- look-ups of this spec

--- Begins look-ups until only so many more find room.
local function fill_line(room)
  repeat
    local lookup = C.luaweb_lookup_begin(host, "localhost")
    if lookup ~= nil then begun[#begun + 1] = lookup end
  until lookup == nil
  for _ = 1, room do C.luaweb_lookup_free(host, table.remove(begun)) end
end

local function empty_line()
  for _, lookup in ipairs(begun) do C.luaweb_lookup_free(host, lookup) end
  begun = {}
end

local function contains(list, what)
  for _, one in ipairs(list) do
    if one == what then return true end
  end
  return false
end

after_each(empty_line)

-- Another name of localhost each time: in other letters.
local count = 0
local function new_name()
  count = count + 1
  return ("n%d.localhost"):format(count)
end

describe("names.resolve", function()
  it("gives the addresses of a name", function()
    local addresses = assert(names.resolve "localhost")
    assert.is_true(contains(addresses, "127.0.0.1") or contains(addresses, "::1"))
  end)

  it("knows what the hosts file says", function()
    local first = {} -- of each name: a later line may not count
    for line in io.lines "/etc/hosts" do
      local address, name = line:match "^%s*(%d+%.[%d.]+)%s+([%w.-]+)"
      if address and not first[name] then
        first[name] = address
        assert.is_true(contains(assert(names.resolve(name)), address), line)
      end
    end
    assert.is_truthy(next(first))
  end)

  for given, address in pairs {
    ["192.0.2.1"] = "192.0.2.1", ["2001:db8::1"] = "2001:db8::1",
    ["[2001:db8::1]"] = "2001:db8::1",
  } do
    it("gives back the address " .. given .. ", looked up or not", function()
      fill_line(0)
      assert.same({ address }, names.resolve(given))
    end)
  end

  it("tells that there is no such name", function()
    local addresses, message, kind = names.resolve "nothing.invalid"
    assert.is_nil(addresses)
    assert.matches('^can\'t look up the host "nothing.invalid": %u', message)
    assert.equal("name", kind)
  end)

  for given, why in pairs {
    ["b\195\188cher.example"] = "it is not ASCII: write it in its A-label form",
    ["a\0b"] = "it has characters that no host name has",
    ["a b"] = "it has characters that no host name has",
    ["a\nb"] = "it has characters that no host name has",
    ["a/b"] = "it has characters that no host name has",
    ["[::1"] = "it has characters that no host name has",
    [""] = "it has not 1 to 253 characters",
    ["."] = "it has not 1 to 253 characters",
    [("a."):rep(128)] = "it has not 1 to 253 characters",
    ["a..b"] = "a label has not 1 to 63 characters",
    [("a"):rep(64) .. ".example"] = "a label has not 1 to 63 characters",
    ["127.1"] = "it ends in a number, but is no IP address",
    ["2130706433"] = "it ends in a number, but is no IP address",
    ["0x7f000001"] = "it ends in a number, but is no IP address",
    ["1.2.3.4.5"] = "it ends in a number, but is no IP address",
    ["256.0.0.1"] = "it ends in a number, but is no IP address",
  } do
    it(("refuses %q"):format(given:sub(1, 40)), function()
      local addresses, message, kind = names.resolve(given)
      assert.is_nil(addresses)
      assert.is_truthy(message:find(why, 1, true), message)
      assert.equal("name", kind)
    end)
  end

  it("takes a string only", function()
    assert.matches("names_spec.lua:%d+: names.resolve wants a string, not a number",
      error_of(function()
        local addresses = names.resolve(1)
        return addresses
      end))
  end)

  it("says where waiting can't work", function()
    local co = coroutine.create(function() names.resolve "localhost" end)
    local _, message = coroutine.resume(co)
    assert.matches("names.resolve can't wait here", message)
  end)
end)

describe("the line of look-ups", function()
  it("holds a bounded number", function()
    fill_line(0)
    -- Look-ups that an earlier case has left may still run.
    assert.is_true(#begun >= IN_LINE and #begun <= AT_ONCE + IN_LINE)
    local addresses, message, kind = names.resolve(new_name())
    assert.is_nil(addresses)
    assert.matches("too many names are being looked up; try again later$", message)
    assert.equal("name", kind)
  end)

  it("has one place for all who ask for the same name", function()
    local name, refused = new_name(), 0
    fill_line(1)
    local function ask(given)
      return function()
        local _, message = names.resolve(given)
        if message and message:find "too many" then refused = refused + 1 end
      end
    end
    local jobs = { ask(name), ask(name), ask(name:upper()), ask(new_name()) }
    for i, fn in ipairs(jobs) do jobs[i] = job.start(fn) end
    assert.equal(1, refused) -- the other name
    empty_line()
    for _, one in ipairs(jobs) do one:join() end
    assert.equal(1, refused)
  end)

  it("is left by a name that nobody waits for any more", function()
    fill_line(1)
    local addresses, message, kind = names.resolve(new_name(), 0)
    assert.is_nil(addresses)
    assert.matches("no answer within 0 s$", message)
    assert.equal("timeout", kind)
    local lookup = C.luaweb_lookup_begin(host, "localhost")
    assert.is_true(lookup ~= nil)
    C.luaweb_lookup_free(host, lookup)
  end)

  it("is not needed for a name that was just looked up", function()
    local first = assert(names.resolve "localhost")
    fill_line(0)
    local again = assert(names.resolve "LocalHost")
    assert.same(first, again)
    assert.not_equal(first, again) -- who changes one changes no other's
  end)

  it("is not needed for a failure within a second, but then", function()
    local _, message = names.resolve "another.invalid"
    fill_line(0)
    assert.same({ nil, message, "name" }, { names.resolve "another.invalid" })
    web.sleep(1.1)
    fill_line(0)
    assert.matches("too many", (select(2, names.resolve "another.invalid")))
  end)
end)
