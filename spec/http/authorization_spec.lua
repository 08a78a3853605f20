-- SPDX-License-Identifier: MIT
-- The Authorization field (core/http/authorization.h): RFC 9110 §11.4, RFC 7617 §2,
-- RFC 4648, the corpus and the edges.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "http/authorization"

-- Slices point into the texts that were parsed, which therefore stay.
local texts = {}

local function slice_of(text)
  texts[#texts + 1] = text
  return ffi.new("struct luaweb_slice", text, #text)
end

--- Scheme, rest, whether that is a token68; nil when the text is no credentials.
local function parse(text)
  local found = ffi.new "struct lw_authorization[1]"
  if not C.lw_authorization_parse(slice_of(text), found) then
    assert.is_true(found[0].scheme.data == nil)
    return nil
  end
  return pure.string(found[0].scheme), pure.string(found[0].rest), found[0].is_token
end

--- User and password of a Basic token.
local function basic(token)
  local out = ffi.new("char[?]", #token + 1)
  out[#token] = 42
  local credentials = ffi.new "struct luaweb_field[1]"
  local is_good = C.lw_authorization_basic(slice_of(token), out, credentials)
  assert.equal(42, out[#token])
  if not is_good then return nil end
  return pure.string(credentials[0].name), pure.string(credentials[0].value)
end

--- The user and password that a whole field gives, as a server would see it.
local function credentials_of(field)
  local scheme, rest, is_token = parse(field or "")
  if not is_token or scheme:lower() ~= "basic" then return nil end
  return basic(rest)
end

local run = {}

function run.accept(case)
  it("reads " .. case.id, function()
    local user, password = credentials_of(pure.octets(case.authorization))
    assert.equal(pure.octets(case.user), user)
    assert.equal(pure.octets(case.password), password)
  end)
end

-- Credentials that are well formed must be others than the server's.
function run.reject(case)
  it("does not find a known user in " .. case.id, function()
    local field = case.authorization and pure.octets(case.authorization)
    local user, password = credentials_of(field)
    local known = user and case.users[user]
    assert.is_true(user == nil or known == nil or pure.octets(known) ~= password)
  end)
end

describe("Authorization, the corpus", function()
  for _, case in ipairs(pure.cases "basic-auth") do
    if run[case.kind] then run[case.kind](case) end
  end
end)

describe("An Authorization field", function()
  for text, expected in pairs {
    ["Basic"]                  = { "Basic", "", false },
    ["Basic "]                 = { "Basic", "", false },
    ["Basic Zm8="]             = { "Basic", "Zm8=", true },
    ["  Basic   Zm8= \t"]      = { "Basic", "Zm8=", true },
    ["bASIC =="]               = { "bASIC", "==", false },
    ["Bearer a-b._~+/9=="]     = { "Bearer", "a-b._~+/9==", true },
    ["Bearer a=b"]             = { "Bearer", "a=b", false },
    ["Bearer a b"]             = { "Bearer", "a b", false },
    ["Bearer a,b"]             = { "Bearer", "a,b", false },
    ["Bearer \tab"]            = { "Bearer", "\tab", false },
    ["Bearer \195\169"]        = { "Bearer", "\195\169", false },
    ["Bearer a\0"]             = { "Bearer", "a\0", false },
    ["!#$%&'*+-.^_`|~ x"]      = { "!#$%&'*+-.^_`|~", "x", true },
    ["Digest username=\"a\""]  = { "Digest", "username=\"a\"", false },
  } do
    it("is read when it is " .. ("%q"):format(text), function()
      assert.same(expected, { parse(text) })
    end)
  end

  for _, text in ipairs {
    "", " ", "\t", "=", ":", "\"Basic\"", "Basic\tZm8=", "Basic:Zm8=", "Basic=Zm8=",
    "Basic, Zm8=", "Basic\0", "\0Basic Zm8=", "B\195\169sic Zm8=", "Basic\r\n Zm8=",
    "\255\254", "Basic\127 a",
  } do
    it("is refused when it is " .. ("%q"):format(text), function()
      assert.is_nil(parse(text))
    end)
  end
end)

describe("Basic credentials", function()
  for token, expected in pairs {
    ["Og=="]         = { "", "" },
    ["YTo="]         = { "a", "" },
    ["OmI="]         = { "", "b" },
    ["YTpi"]         = { "a", "b" },
    ["YTpiOmM="]     = { "a", "b:c" },
    ["YTo6"]         = { "a", ":" },
    ["gDr/"]         = { "\128", "\255" },
    ["Pj8+Oj8/"]     = { ">?>", "??" },
    ["IDog"]         = { " ", " " },
  } do
    it("are " .. ("%q and %q"):format(unpack(expected)), function()
      assert.same(expected, { basic(token) })
    end)
  end

  for token, why in pairs {
    [""]             = "nothing",
    ["YTp"]          = "a group that is not whole",
    ["YTo"]          = "no padding",
    ["YTo=="]        = "too much padding",
    ["YTo===="]      = "a group of padding",
    ["Y==="]         = "six bits that are no octet",
    ["===="]         = "padding alone",
    ["YTpi="]        = "padding behind whole groups",
    ["YTo=YTpi"]     = "padding in the middle",
    ["YT=i"]         = "padding in front of a digit",
    ["YTp="]         = "two bits left over",
    ["Oh=="]         = "four bits left over",
    ["YT-_"]         = "the alphabet of base64url",
    ["YT pi"]        = "a space",
    ["YTpi\n"]       = "a line feed",
    ["YTp\0"]        = "a NUL",
    ["YTp\195"]      = "an octet beyond ASCII",
    ["YWI="]         = "no colon",
    ["YQA6Yg=="]     = "a NUL in the name",
    ["YTpiAGM="]     = "a NUL in the password",
    ["YQk6Yg=="]     = "a tab in the name",
    ["YTpiDQo="]     = "a line end in the password",
    ["YTpifw=="]     = "DEL in the password",
  } do
    it("are none with " .. why, function() assert.is_nil(basic(token)) end)
  end

  it("are decoded in place", function()
    local token = ffi.new("char[8]", "YTpiOmM=")
    local credentials = ffi.new "struct luaweb_field[1]"
    assert.is_true(C.lw_authorization_basic(ffi.new("struct luaweb_slice", token, 8),
      token, credentials))
    assert.equal("a", pure.string(credentials[0].name))
    assert.equal("b:c", pure.string(credentials[0].value))
  end)

  it("may be huge", function()
    local user, password = basic("YTpi" .. ("YWFh"):rep(2 ^ 18))
    assert.equal("a", user)
    assert.equal("b" .. ("a"):rep(3 * 2 ^ 18), password)
  end)
end)
