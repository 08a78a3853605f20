-- SPDX-License-Identifier: MIT
-- JSON under mutation: whatever octets come, decode gives a value or a message, and
-- what it gives is written and read back equal. Every run is the same.
local ffi = require "ffi"
local json = require "luaweb.json"

local MUTANTS = 200000

local SEEDS = {
  '{"id":1,"name":"Zoë \\"x\\"","tags":["a","b",[]],"score":-12.75e-3,"ok":true}',
  '[0,-0,1.5,1e10,123456789012345678,0.1,true,false,null,"",{},[[[1],2],3]]',
  ' { "a" : { "b" : [ { "c" : "\\u00e9\\ud83d\\ude00\\n" } , null ] } }\r\n\t',
  '["€","😀","\\/\\b\\f\\r\\t\\\\","plain",{"é":"ü","":[{"x":{}}]}]',
}

local FRAGMENTS = {
  "{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "\\ud800", "\\udc00", "0", "-", ".",
  "e", "E+9", "1e400", "null", "true", " ", "\n", "\0", "\31", "\127", "\128", "\195",
  "\237\160\128", "\240\159\152\128", "\255", '"a":', "[]", "{}", '"b"',
  "99999999999999999999",
}

-- Numbers that look random and are the same on every run.
local state = 1
local function random(n)
  state = (state * 16807) % 2147483647
  return state % n + 1
end

-- What stands in for the octets from `at` on, and how many of these it replaces.
local MUTATIONS = {
  function() return string.char(random(256) - 1), 1 end,
  function() return FRAGMENTS[random(#FRAGMENTS)], 0 end,
  function() return "", random(4) end,
  function(s, at) return s:sub(at - random(8), at), 0 end,
  function(s)
    local other = SEEDS[random(#SEEDS)]
    return other:sub(random(#other)), #s
  end,
}

local function mutant()
  local s = SEEDS[random(#SEEDS)]
  for _ = 1, random(3) do
    local at = random(#s + 1)
    local new, size = MUTATIONS[random(#MUTATIONS)](s, at)
    s = s:sub(1, at - 1) .. new .. s:sub(at + size)
  end
  return s
end

local function is_equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  if getmetatable(a) ~= getmetatable(b) then return false end
  for key, v in pairs(a) do
    if not is_equal(v, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

--- Fails unless decode keeps its promises about a text; tells whether it was accepted.
local function check(text)
  local v, message = json.decode(text)
  if v == nil then
    if not message:find "^line %d+, column %d+" then error(message .. ": " .. text) end
    return false
  end
  if not is_equal(v, json.decode(json.encode(v))) then error("not equal: " .. text) end
  return true
end

describe("JSON under mutation", function()
  it("gives a value that is written and read back equal, or a message", function()
    local accepted = 0
    for _ = 1, MUTANTS do
      if check(mutant()) then accepted = accepted + 1 end
    end
    assert.is_true(accepted > MUTANTS / 100 and accepted < MUTANTS / 2)
  end)

  it("refuses every beginning of a document, and accepts the whole", function()
    for _, seed in ipairs(SEEDS) do
      local whole = seed:match "^(.-)%s*$"
      for size = 0, #whole - 1 do assert.is_false(check(whole:sub(1, size))) end
      assert.is_true(check(whole))
    end
  end)

  it("gives the same when it is compiled and when it is interpreted", function()
    local texts, compiled = {}, {}
    for i = 1, 2000 do texts[i] = mutant() end
    local function outcome(text)
      local v, message = json.decode(text)
      return message or json.encode(v)
    end
    for i, text in ipairs(texts) do compiled[i] = outcome(text) end
    jit.flush()
    jit.off()
    local interpreted = {}
    for i, text in ipairs(texts) do interpreted[i] = outcome(text) end
    jit.on()
    assert.same(compiled, interpreted)
  end)
end)

describe("JSON numbers of all sizes", function()
  it("are read back equal, and as Lua reads them", function()
    local bits = ffi.new "union { double n; uint32_t half[2]; }"
    for _ = 1, 20000 do
      bits.half[0], bits.half[1] = random(2 ^ 31) * 2 - 1, random(2 ^ 31) * 2 - 1
      -- No infinities and NaNs: LuaJIT takes the bits of some for other values.
      if bit.band(bits.half[1], 0x7ff00000) ~= 0x7ff00000 then
        local n = bits.n
        local text = json.encode(n)
        assert(text:find "^%-?%d+%.?%d*e?[+-]?%d*$", text)
        assert(json.decode(text) == n and tonumber(text) == n, text)
      end
    end
  end)

  it("are read as Lua reads them when they have few digits", function()
    for _ = 1, 20000 do
      local text = ("%d.%0" .. random(14) .. "d"):format(random(9999), random(9999))
      assert(json.decode(text) == tonumber(text), text)
      assert(json.encode(json.decode(text)) == json.encode(tonumber(text)), text)
    end
  end)
end)
