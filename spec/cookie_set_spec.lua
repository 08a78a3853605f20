-- SPDX-License-Identifier: MIT
-- The Set-Cookie header (lua/luaweb/cookie.lua): RFC 6265 §4.1, the corpus, the edges.
local cookie = require "luaweb.cookie"
local pure = require "spec.support.pure"

local OPTIONS = {
  "domain", "path", "max_age", "expires", "http_only", "secure", "same_site",
  "partitioned",
}

local function octets_if_text(value)
  return type(value) == "string" and pure.octets(value) or value
end

--- Name, value and options of a case, as `cookie.set` takes them.
local function arguments(input)
  local options = {}
  for _, key in ipairs(OPTIONS) do options[key] = octets_if_text(input[key]) end
  return octets_if_text(input.name), octets_if_text(input.value), options
end

--- The cookie pair and the sorted attributes of a field value.
local function parts_of(field)
  local parts = {}
  for part in (field .. "; "):gmatch "(.-); " do parts[#parts + 1] = part end
  local pair = table.remove(parts, 1)
  table.sort(parts)
  return { pair = pair, attributes = parts }
end

local function has(list, wanted)
  for _, part in ipairs(list) do
    if part == wanted then return true end
  end
  return false
end

local check = {}

check["set"] = function(case)
  local name, value, options = arguments(case.input)
  assert.same(parts_of(case.output), parts_of(cookie.set(name, value, options)))
end

check["set-error"] = function(case)
  assert.has_error(function() cookie.set(arguments(case.input)) end)
end

check["set-tolerant"] = function(case)
  local is_set, field = pcall(cookie.set, arguments(case.input))
  for _, octet in ipairs(case.must_not_contain) do
    assert.is_nil(is_set and field:find(octet, 1, true) or nil)
  end
  assert.is_false(is_set)                       -- of the two ways, ours is to refuse
end

check["delete"] = function(case)
  local name, _, options = arguments(case.input)
  local attributes = parts_of(cookie.delete(name, options)).attributes
  for _, wanted in ipairs(case.must_have) do
    assert.is_true(has(attributes, wanted), wanted)
  end
  local found = 0
  for _, wanted in ipairs(case.must_have_any) do
    if has(attributes, wanted) then found = found + 1 end
  end
  assert.is_true(found > 0)
end

describe("Set-Cookie, the corpus", function()
  for _, case in ipairs(pure.cases "cookie") do
    if check[case.kind] then
      it("agrees with " .. case.id, function() check[case.kind](case) end)
    end
  end
end)

--- The message that `cookie.set` raises; fails when it raises none.
local function message_of(...)
  local is_set, message = pcall(cookie.set, ...)
  assert.is_false(is_set, "not refused")
  return message
end

local function refuses(pattern, ...)
  assert.matches(pattern, message_of(...))
end

describe("A cookie's name", function()
  it("may have every octet of a token, and no other", function()
    local separators = "()<>@,;:\\\"/[]?={}"
    for octet = 0, 255 do
      local name = "a" .. string.char(octet)
      local is_token = octet > 32 and octet < 127
        and not separators:find(string.char(octet), 1, true)
      assert.equal(is_token, (pcall(cookie.set, name, "v")), "octet " .. octet)
    end
  end)

  it("is refused when it is empty or no string", function()
    refuses("the name is empty", "", "v")
    refuses("a string, not a nil", nil, "v")
    refuses("a string, not a number", 1, "v")
  end)

  it("is refused with the octet named, not shown", function()
    assert.equal("cookie: the name is a token, without octet 0x0A at 2",
      message_of("a\nb", "v"))
  end)
end)

describe("A cookie's value", function()
  it("may have every cookie-octet, and no other", function()
    for octet = 0, 255 do
      local value = "a" .. string.char(octet)
      local is_fine = octet > 32 and octet < 127
        and not ("\",;\\"):find(string.char(octet), 1, true)
      local is_set, field = pcall(cookie.set, "n", value)
      assert.equal(is_fine, is_set, "octet " .. octet)
      if is_fine then assert.equal("n=" .. value, field) end
    end
  end)

  it("may be empty", function()
    assert.equal("n=", cookie.set("n", ""))
  end)

  it("may be in quotes, which stay, but can't hold one", function()
    assert.equal("n=\"\"", cookie.set("n", "\"\""))
    assert.equal("n=\"a=b\"", cookie.set("n", "\"a=b\""))
    refuses("octet 0x22 at 1", "n", "\"")
    refuses("octet 0x22 at 1", "n", "\"a")
    refuses("octet 0x22 at 2", "n", "a\"")
    refuses("octet 0x22 at 2", "n", "\"\"\"")
    refuses("octet 0x20 at 3", "n", "\"a b\"")
    refuses("octet 0x3B at 3", "n", "\"a;b\"")
  end)

  it("is refused when it is no string", function()
    refuses("cookie n: the value is a string, not a nil", "n", nil)
    refuses("cookie n: the value is a string, not a number", "n", 7)
  end)

  it("is refused without being shown", function()
    assert.equal("cookie n: the value can't have octet 0x20 at 4: encode it first",
      message_of("n", "top secret"))
  end)

  it("has 4096 octets at most, together with the name", function()
    assert.equal(4097, #cookie.set("ab", ("v"):rep(4094)))
    refuses("cookie ab: name and value have 4097 octets, more than 4096", "ab",
      ("v"):rep(4095))
  end)
end)

describe("A cookie's options", function()
  it("are written in one order", function()
    assert.equal("n=v; Domain=a.example; Path=/x; Max-Age=5; "
      .. "Expires=Thu, 01 Jan 1970 00:00:01 GMT; HttpOnly; Secure; SameSite=Strict; "
      .. "Partitioned",
      cookie.set("n", "v", {
        partitioned = true, same_site = "STRICT", secure = true, http_only = true,
        expires = 1, max_age = 5, path = "/x", domain = "a.example",
      }))
  end)

  it("are refused when nobody knows them, by name", function()
    assert.equal("cookie n: unknown option: httpOnly, samesite",
      message_of("n", "v", { samesite = "Lax", httpOnly = true, path = "/" }))
    refuses("unknown option: 1", "n", "v", { "secure" })
  end)

  it("are refused when they are no table", function()
    refuses("options are a table, not a string", "n", "v", "secure")
    refuses("options are a table, not a boolean", "n", "v", false)
  end)

  it("are left as they were", function()
    local options = { path = "/x", max_age = 5 }
    cookie.set("n", "v", options)
    cookie.delete("n", options)
    assert.same({ path = "/x", max_age = 5 }, options)
  end)

  for _, option in ipairs { "http_only", "secure", "partitioned" } do
    it("take true or false only for " .. option, function()
      for _, wrong in ipairs { "true", 1, 0, {} } do
        refuses(option .. " must be true or false", "n", "v", { [option] = wrong })
      end
      assert.equal("n=v", cookie.set("n", "v", { [option] = false }))
    end)
  end
end)

describe("A cookie's domain", function()
  for _, domain in ipairs {
    "localhost", "a-b.example", "127.0.0.1", "xn--bcher-kva.example", "EXAMPLE.com",
    ("a"):rep(63) .. ".example",
  } do
    it("may be " .. domain, function()
      assert.equal("n=v; Domain=" .. domain, cookie.set("n", "v", { domain = domain }))
    end)
  end

  it("loses its leading dot, which means nothing", function()
    assert.equal("n=v; Domain=a.example", cookie.set("n", "v", { domain = ".a.example" }))
  end)

  for _, domain in ipairs {
    "", ".", "..a.example", "a..example", "a.example.", "-a.example", "a-.example",
    "a b.example", "a_b.example", "b\195\188cher.example", "a.example:80", "[::1]",
    "a.example\0", "a.example\r\nX: y", "a.example, b.example", "*.example",
    ("a"):rep(64) .. ".example", false, 1,
  } do
    it("can't be " .. ("%q"):format(tostring(domain)), function()
      refuses("domain must be a", "n", "v", { domain = domain })
    end)
  end

  it("has 253 octets at most", function()
    local domain = ("abcd."):rep(50) .. "com"
    assert.equal("n=v; Domain=" .. domain, cookie.set("n", "v", { domain = domain }))
    refuses("domain must be at most 253 octets", "n", "v", { domain = domain .. "m" })
  end)
end)

describe("A cookie's path", function()
  for _, path in ipairs { "/", "/a b", "/a%20b?c=d,\"e\"", "/../x", "/~" } do
    it("may be " .. path, function()
      assert.equal("n=v; Path=" .. path, cookie.set("n", "v", { path = path }))
    end)
  end

  it("begins with a slash, as browsers ignore another", function()
    for _, path in ipairs { "", "x", "../x", " /" } do
      refuses("path must be a path that begins with \"/\"", "n", "v", { path = path })
    end
  end)

  it("has no semicolon, control or octet beyond ASCII", function()
    for _, octet in ipairs { ";", "\0", "\t", "\r", "\n", "\31", "\127", "\128", "\255" } do
      refuses("path must be printable ASCII", "n", "v", { path = "/a" .. octet .. "b" })
    end
  end)

  it("is a string", function()
    refuses("path must be a string", "n", "v", { path = true })
  end)

  it("has 1024 octets at most", function()
    local path = "/" .. ("x"):rep(1023)
    assert.equal("n=v; Path=" .. path, cookie.set("n", "v", { path = path }))
    refuses("path must be at most 1024 octets", "n", "v", { path = path .. "x" })
  end)
end)

describe("A cookie's end", function()
  for seconds, text in pairs {
    [0] = "0", [1] = "1", [-1] = "0", [-2 ^ 53] = "0", [34560000] = "34560000",
    [2 ^ 53] = "9007199254740992",
  } do
    it(("is after %.0f seconds as Max-Age=%s"):format(seconds, text), function()
      assert.equal("n=v; Max-Age=" .. text, cookie.set("n", "v", { max_age = seconds }))
    end)
  end

  for epoch, text in pairs {
    [-11644473600] = "Mon, 01 Jan 1601 00:00:00 GMT",
    [-1]           = "Wed, 31 Dec 1969 23:59:59 GMT",
    [0]            = "Thu, 01 Jan 1970 00:00:00 GMT",
    [784111777]    = "Sun, 06 Nov 1994 08:49:37 GMT",
    [951782400]    = "Tue, 29 Feb 2000 00:00:00 GMT",
    [2147483648]   = "Tue, 19 Jan 2038 03:14:08 GMT",
    [4107542400]   = "Mon, 01 Mar 2100 00:00:00 GMT",
    [253402300799] = "Fri, 31 Dec 9999 23:59:59 GMT",
  } do
    it(("is at %d as %s"):format(epoch, text), function()
      assert.equal("n=v; Expires=" .. text, cookie.set("n", "v", { expires = epoch }))
    end)
  end

  it("is at a time that knows every month and day by its name", function()
    local months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
    local epoch, seen = 12 * 3600, {}
    for day = 0, 364 do
      local field = cookie.set("n", "v", { expires = epoch + day * 86400 })
      local weekday, month = field:match "Expires=(%a+), %d%d (%a+) 1970 12:00:00 GMT$"
      assert.equal(("ThuFriSatSunMonTueWed"):sub(day % 7 * 3 + 1, day % 7 * 3 + 3),
        weekday)
      if seen[#seen] ~= month then seen[#seen + 1] = month end
    end
    assert.equal(months, table.concat(seen, " "))
  end)

  it("is refused when it is no whole number in reach", function()
    for _, wrong in ipairs { "60", 1.5, 0 / 0, math.huge, -math.huge, 2 ^ 60, true } do
      refuses("max_age must be a whole number", "n", "v", { max_age = wrong })
      refuses("expires must be a whole number", "n", "v", { expires = wrong })
    end
    for _, wrong in ipairs { -11644473601, 253402300800 } do
      refuses("years 1601 to 9999", "n", "v", { expires = wrong })
    end
  end)
end)

describe("A cookie's same_site", function()
  for word, text in pairs {
    Strict = "Strict", strict = "Strict", LAX = "Lax", lax = "Lax", nOnE = "None",
  } do
    it("may be " .. word, function()
      assert.equal("n=v; Secure; SameSite=" .. text,
        cookie.set("n", "v", { same_site = word, secure = true }))
    end)
  end

  it("is one of the three", function()
    for _, wrong in ipairs { "", "Default", "lax ", true, false, 1 } do
      refuses("same_site must be \"Strict\", \"Lax\" or \"None\"", "n", "v",
        { same_site = wrong })
    end
  end)
end)

describe("What a browser would drop", function()
  it("is refused: None or partitioned without secure", function()
    for _, secure in ipairs { false, "absent" } do
      local given = secure == false and secure or nil
      refuses("same_site None needs secure", "n", "v",
        { same_site = "None", secure = given })
      refuses("partitioned needs secure", "n", "v",
        { partitioned = true, secure = given })
    end
  end)

  it("is refused: __Secure- without secure, in any case", function()
    for _, name in ipairs { "__Secure-n", "__secure-n", "__SECURE-", "__sEcUrE-x" } do
      refuses("the prefix __Secure%- needs secure", name, "v")
      assert.equal(name .. "=v; Secure", cookie.set(name, "v", { secure = true }))
    end
  end)

  it("is refused: __Host- without secure, off the root or with a domain", function()
    for _, name in ipairs { "__Host-n", "__host-n", "__HOST-", "__hOsT-x" } do
      refuses("__Host%- needs secure", name, "v", { path = "/" })
      refuses("__Host%- needs path \"/\"", name, "v", { secure = true })
      refuses("__Host%- needs path \"/\"", name, "v", { secure = true, path = "/x" })
      refuses("__Host%- forbids domain", name, "v",
        { secure = true, path = "/", domain = "a.example" })
      assert.equal(name .. "=v; Path=/; Secure",
        cookie.set(name, "v", { secure = true, path = "/" }))
    end
  end)

  it("is not a name that only looks like a prefix", function()
    for _, name in ipairs { "_Secure-n", "__Secure", "__Host", "x__Host-n", "__Hosts-" } do
      assert.equal(name .. "=v", cookie.set(name, "v"))
    end
  end)
end)

describe("A removed cookie", function()
  local GONE = "Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"

  it("is empty and over", function()
    assert.equal("n=; " .. GONE, cookie.delete("n"))
  end)

  it("is that of the same domain and path, with the same attributes", function()
    assert.equal("n=; Domain=a.example; Path=/x; " .. GONE .. "; HttpOnly; Secure; "
      .. "SameSite=None; Partitioned",
      cookie.delete("n", {
        domain = "a.example", path = "/x", http_only = true, secure = true,
        same_site = "None", partitioned = true,
      }))
  end)

  it("is over whatever end it was set with", function()
    assert.equal("n=; " .. GONE, cookie.delete("n", { max_age = 60, expires = 2 ^ 31 }))
  end)

  it("keeps the rules of one that is set", function()
    local function refuses_to_delete(pattern, ...)
      local is_written, message = pcall(cookie.delete, ...)
      assert.is_false(is_written)
      assert.matches(pattern, message)
    end
    refuses_to_delete("the name is a token", "a b")
    refuses_to_delete("unknown option: Path", "n", { Path = "/" })
    refuses_to_delete("options are a table, not a string", "n", "/")
    refuses_to_delete("options are a table, not a boolean", "n", false)
    refuses_to_delete("__Host%- needs secure", "__Host-n", { path = "/" })
  end)
end)

describe("An error", function()
  --- Where an error in the text below is said to be, with `write` in its reach.
  local function place_of(text, write)
    local chunk = assert(loadstring(text, "=app.lua"))
    setfenv(chunk, { write = write })
    local is_done, message = pcall(chunk)
    assert.is_false(is_done)
    return message:match "^app%.lua:%d+"
  end

  it("names the line that wrote the cookie", function()
    local text = "local x\nx = write('a b', 'v')\nreturn x"
    assert.equal("app.lua:2", place_of(text, cookie.set))
    assert.equal("app.lua:2", place_of(text, cookie.delete))
  end)

  it("names the line of the caller's caller when told so", function()
    local text = "local x\n\nx = write('a b')\nreturn x"
    assert.equal("app.lua:3", place_of(text, function(name)
      local field = cookie.set(name, "v", nil, 2)
      return field
    end))
    assert.equal("app.lua:3", place_of(text, function(name)
      local field = cookie.delete(name, nil, 2)
      return field
    end))
  end)
end)
