-- SPDX-License-Identifier: MIT
-- The Set-Cookie header (response/cookie.lua): RFC 6265 §4.1, the corpus, the edges.
local cookie = require "luaweb.response.cookie"
local pure = require "spec.support.pure"

local function octets_if_text(value)
  return type(value) == "string" and pure.octets(value) or value
end

--- Name, value and options of a case, as `cookie.set` takes them.
local function arguments(input)
  local options = {}
  for key, value in pairs(input) do options[key] = octets_if_text(value) end
  options.name, options.value = nil, nil
  return octets_if_text(input.name), octets_if_text(input.value), options
end

--- The attributes of a field value as a set, with its cookie pair.
local function parts_of(field)
  local parts = { pair = field:match "^[^;]*" }
  for attribute in field:gmatch "; ([^;]*)" do parts[attribute] = true end
  return parts
end

local check = {}

check["set"] = function(case)
  assert.same(parts_of(case.output), parts_of(cookie.set(arguments(case.input))))
end

check["set-error"] = function(case)
  assert.has_error(function() cookie.set(arguments(case.input)) end)
end

check["set-tolerant"] = check["set-error"]      -- it may be encoded: we refuse

check["delete"] = function(case)
  local name, _, options = arguments(case.input)
  local parts = parts_of(cookie.delete(name, options))
  for _, wanted in ipairs(case.must_have) do assert.is_true(parts[wanted], wanted) end
  local has_any
  for _, wanted in ipairs(case.must_have_any) do has_any = has_any or parts[wanted] end
  assert.is_true(has_any)
end

describe("Set-Cookie, the corpus", function()
  for _, case in ipairs(pure.cases "cookie") do
    if check[case.kind] then
      it("agrees with " .. case.id, function() check[case.kind](case) end)
    end
  end
end)

--- Fails unless `write` raises exactly this message.
local function refuses(message, write, ...)
  assert.same({ false, message }, { pcall(write, ...) })
end

--- One promise for each value of an option that is written.
local function takes(option, attributes)
  for value, attribute in pairs(attributes) do
    it(("is written for %s = %.40s"):format(option, tostring(value)), function()
      local options = { [option] = value, secure = option == "same_site" }
      assert.is_true(parts_of(cookie.set("n", "v", options))[attribute], attribute)
    end)
  end
end

--- One promise for each value of an option that is refused.
local function forbids(option, text, values)
  for _, value in ipairs(values) do
    local shown = ("%q"):format(tostring(value):sub(1, 40))
    it(("is refused for %s = %s"):format(option, shown), function()
      refuses("cookie n: " .. option .. " must be " .. text, cookie.set, "n", "v",
        { [option] = value })
    end)
  end
end

--- Which octets `write` takes, as one string.
local function octets_taken(write)
  local taken = {}
  for octet = 0, 255 do
    local char = string.char(octet)
    if pcall(write, char) then taken[#taken + 1] = char end
  end
  return table.concat(taken)
end

describe("A cookie's name", function()
  it("may have every octet of a token, and no other", function()
    assert.equal("!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`"
      .. "abcdefghijklmnopqrstuvwxyz|~",
      octets_taken(function(char) return cookie.set("a" .. char, "v") end))
  end)

  for name, message in pairs {
    [""]     = "cookie: the name is empty",
    [1]      = "cookie: the name is a string, not a number",
    ["a\nb"] = "cookie: the name is a token, without octet 0x0A at 2",
  } do
    it("is refused: " .. message, function()
      refuses(message, cookie.set, name, "v")
    end)
  end
end)

describe("A cookie's value", function()
  it("may have every cookie-octet, and no other", function()
    assert.equal("!#$%&'()*+-./0123456789:<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`"
      .. "abcdefghijklmnopqrstuvwxyz{|}~",
      octets_taken(function(char) return cookie.set("n", "a" .. char) end))
  end)

  for _, value in ipairs { "", "\"\"", "\"a=b\"", ("v"):rep(4095) } do
    it(("may be %.9s"):format(value), function()
      assert.equal("n=" .. value, cookie.set("n", value))
    end)
  end

  for value, fault in pairs {
    ["\""]      = "the value can't have octet 0x22 at 1: encode it first",
    ["\"a"]     = "the value can't have octet 0x22 at 1: encode it first",
    ["a\""]     = "the value can't have octet 0x22 at 2: encode it first",
    ["\"\"\""]  = "the value can't have octet 0x22 at 2: encode it first",
    ["\"a b\""] = "the value can't have octet 0x20 at 3: encode it first",
    [7]         = "the value is a string, not a number",
    [("v"):rep(4096)] = "name and value have 4097 octets, more than 4096",
  } do
    it(("can't be %.9s, and is not shown"):format(value), function()
      refuses("cookie n: " .. fault, cookie.set, "n", value)
    end)
  end
end)

describe("Options", function()
  it("are written in one order", function()
    local options = {
      partitioned = true, same_site = "STRICT", secure = true, http_only = true,
      expires = 1, max_age = 5, path = "/x", domain = "a.example",
    }
    assert.equal("n=v; Domain=a.example; Path=/x; Max-Age=5; Expires=Thu, 01 Jan 1970 "
      .. "00:00:01 GMT; HttpOnly; Secure; SameSite=Strict; Partitioned",
      cookie.set("n", "v", options))
  end)

  for fault, options in pairs {
    ["unknown option: httpOnly, samesite"] = { samesite = "Lax", httpOnly = true },
    ["unknown option: 1"]                  = { "secure" },
    ["options are a table, not a string"]  = "secure",
    ["options are a table, not a boolean"] = false,
  } do
    it("are refused: " .. fault, function()
      refuses("cookie n: " .. fault, cookie.set, "n", "v", options)
      refuses("cookie n: " .. fault, cookie.delete, "n", options)
    end)
  end

  it("are left as they were", function()
    local options = { path = "/x", max_age = 5 }
    cookie.set("n", "v", options)
    cookie.delete("n", options)
    assert.same({ path = "/x", max_age = 5 }, options)
  end)
end)

describe("An attribute", function()
  for _, option in ipairs { "http_only", "secure", "partitioned" } do
    forbids(option, "true or false", { "true", 1, 0, {} })
    it("is left out for " .. option .. " = false", function()
      assert.equal("n=v", cookie.set("n", "v", { [option] = false }))
    end)
  end

  local long_label, long_domain = ("a"):rep(63), ("abcd."):rep(50) .. "com"
  takes("domain", {
    ["localhost"] = "Domain=localhost",  [".a-b.example"] = "Domain=a-b.example",
    ["127.0.0.1"] = "Domain=127.0.0.1",  ["A.example"] = "Domain=A.example",
    [long_label] = "Domain=" .. long_label, [long_domain] = "Domain=" .. long_domain,
  })
  forbids("domain", "a string", { false, 1 })
  forbids("domain", "at most 253 octets", { long_domain .. "m" })
  forbids("domain", "a domain name", {
    "", ".", "..a.example", "a..example", "a.example.", "-a.example", "a-.example",
    "a b.example", "a_b.example", "b\195\188cher.example", "a.example:80", "[::1]",
    "a.example\0", "a.example\r\nX: y", "a.example, b.example", "*.example",
    long_label .. "a.example",
  })

  local long_path = "/" .. ("x"):rep(1023)
  takes("path", {
    ["/"] = "Path=/", ["/a b"] = "Path=/a b", ["/%20?c=\"d\""] = "Path=/%20?c=\"d\"",
    ["/../~"] = "Path=/../~", [long_path] = "Path=" .. long_path,
  })
  forbids("path", "a string", { true, 1 })
  forbids("path", "at most 1024 octets", { long_path .. "x" })
  forbids("path", "a path that begins with \"/\"", { "", "x", "../x", " /" })
  forbids("path", "printable ASCII without \";\"",
    { "/;", "/\0", "/\t", "/\r\nX: y", "/\n", "/\31", "/\127", "/\128", "/\255" })

  takes("max_age", {
    [0] = "Max-Age=0", [1] = "Max-Age=1", [-1] = "Max-Age=0", [-2 ^ 53] = "Max-Age=0",
    [34560000] = "Max-Age=34560000", [2 ^ 53] = "Max-Age=9007199254740992",
  })
  -- Every month and every day of the week.
  takes("expires", {
    [-11644473600] = "Expires=Mon, 01 Jan 1601 00:00:00 GMT",
    [-1]           = "Expires=Wed, 31 Dec 1969 23:59:59 GMT",
    [0]            = "Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    [784111777]    = "Expires=Sun, 06 Nov 1994 08:49:37 GMT",
    [951782400]    = "Expires=Tue, 29 Feb 2000 00:00:00 GMT",
    [4107542400]   = "Expires=Mon, 01 Mar 2100 00:00:00 GMT",
    [1775001600]   = "Expires=Wed, 01 Apr 2026 00:00:00 GMT",
    [1780185600]   = "Expires=Sun, 31 May 2026 00:00:00 GMT",
    [1780272000]   = "Expires=Mon, 01 Jun 2026 00:00:00 GMT",
    [1784937600]   = "Expires=Sat, 25 Jul 2026 00:00:00 GMT",
    [1785628800]   = "Expires=Sun, 02 Aug 2026 00:00:00 GMT",
    [1790726400]   = "Expires=Wed, 30 Sep 2026 00:00:00 GMT",
    [1792108799]   = "Expires=Thu, 15 Oct 2026 23:59:59 GMT",
    [253402300799] = "Expires=Fri, 31 Dec 9999 23:59:59 GMT",
  })
  local no_integers = { "60", 1.5, 0 / 0, math.huge, -math.huge, 2 ^ 60, true }
  forbids("max_age", "a whole number of seconds", no_integers)
  forbids("expires", "a whole number of seconds since 1970, in the years 1601 to 9999",
    { -11644473601, 253402300800, unpack(no_integers) })

  takes("same_site", {
    Strict = "SameSite=Strict", LAX = "SameSite=Lax", lax = "SameSite=Lax",
    nOnE = "SameSite=None",
  })
  forbids("same_site", "\"Strict\", \"Lax\" or \"None\"",
    { "", "Default", "lax ", true, false, 1 })
end)

describe("A cookie that a browser would drop", function()
  local function is_refused(name, options, fault)
    local title = ("is refused: %s, as %s"):format(name, fault)
    it(title, function()
      refuses("cookie " .. name .. ": " .. fault, cookie.set, name, "v", options)
      refuses("cookie " .. name .. ": " .. fault, cookie.delete, name, options)
    end)
  end

  for _, name in ipairs { "__Secure-n", "__sEcUrE-" } do
    is_refused(name, nil, "the prefix __Secure- needs secure")
    is_refused(name, { secure = false }, "the prefix __Secure- needs secure")
  end
  for _, name in ipairs { "__Host-n", "__hOsT-" } do
    is_refused(name, { path = "/" }, "the prefix __Host- needs secure")
    is_refused(name, { secure = true }, "the prefix __Host- needs path \"/\"")
    is_refused(name, { path = "/", secure = true, domain = "a.example" },
      "the prefix __Host- forbids domain")
  end
  is_refused("n", { same_site = "none" }, "same_site None needs secure")
  is_refused("n", { partitioned = true, secure = false }, "partitioned needs secure")

  it("is none that keeps the rules of its prefix", function()
    for _, name in ipairs { "__Secure-n", "__sEcUrE-", "__Host-n", "__hOsT-" } do
      assert.equal(name .. "=v; Path=/; Secure",
        cookie.set(name, "v", { path = "/", secure = true }))
    end
  end)

  it("is none whose name only looks like a prefix", function()
    for _, name in ipairs { "_Host-n", "__Secure", "__Host", "x__Host-", "__Hosts-" } do
      assert.equal(name .. "=v", cookie.set(name, "v"))
    end
  end)
end)

describe("A removed cookie", function()
  local GONE = "; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"

  it("is empty and over, whatever end it was set with", function()
    assert.equal("n=" .. GONE, cookie.delete("n"))
    assert.equal("n=" .. GONE, cookie.delete("n", { max_age = 60, expires = 2 ^ 31 }))
  end)

  it("is that of the same domain and path, with the same attributes", function()
    local options = { domain = "a.example", path = "/x", secure = true }
    assert.equal("n=; Domain=a.example; Path=/x" .. GONE .. "; Secure",
      cookie.delete("n", options))
  end)
end)

describe("An error", function()
  --- Where the error of an app is that has `write` write a cookie in line 2.
  local function place_of(write)
    local app = assert(loadstring("local write = ...\nwrite('a b', 'v')", "=app.lua"))
    local _, message = pcall(app, write)
    return message:match "^app%.lua:%d+"
  end

  it("names the line that calls", function()
    assert.equal("app.lua:2", place_of(cookie.set))
    assert.equal("app.lua:2", place_of(function(name) cookie.set(name, "", nil, 2) end))
    assert.equal("app.lua:2", place_of(function(name) cookie.delete(name, nil, 2) end))
    assert.is_nil(place_of(function(name) cookie.delete(name) end))
  end)
end)
