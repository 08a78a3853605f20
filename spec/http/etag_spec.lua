-- SPDX-License-Identifier: MIT
-- Entity tags (core/http/etag.h): RFC 9110 §8.8.3, §13.1.1, §13.1.2, the corpus of
-- conditions as far as tags decide, and the edges.
local cjson = require "cjson"
local ffi = require "ffi"
local pure = require "spec.support.pure"

pure.load "http/fields"
local C = pure.load "http/etag"

-- Slices point into texts, which therefore stay.
local texts = {}

-- Behind each slice there are octets that would change it.
local function slice(text)
  texts[#texts + 1] = text .. "\""
  return ffi.new("struct luaweb_slice", texts[#texts], #text)
end

--- Text for a title: quoted, with escapes for what does not print.
local function shown(text)
  return (("%q"):format(text):gsub("[^\32-\126]", function(octet)
    return ("\\%d"):format(octet:byte())
  end))
end

local ANSWER = {}
for _, name in ipairs { "ABSENT", "STAR", "MATCH", "OTHER" } do
  ANSWER[tonumber(C["LW_ETAG_" .. name])] = name
end

--- What { {name, value}, ... } say in the field `bit` ("IF_MATCH") of a tag.
local function list(lines, bit, tag, is_strong)
  local fields = ffi.new("struct luaweb_field[?]", #lines + 1)
  fields[#lines].name = slice(lines[1] and lines[1][1] or "If-Match")
  for i, line in ipairs(lines) do
    fields[i - 1].name, fields[i - 1].value = slice(line[1]), slice(line[2])
  end
  local headers = ffi.new("struct luaweb_fields", fields, #lines)
  local answer = C.lw_etag_list(headers, C["LW_HAS_" .. bit], slice(tag), is_strong)
  return ANSWER[tonumber(answer)]
end

local function strong(value, tag)
  return list({ { "If-Match", value } }, "IF_MATCH", tag, true)
end

local function weak(value, tag)
  return list({ { "If-None-Match", value } }, "IF_NONE_MATCH", tag, false)
end

-- The corpus --------------------------------------------------------------------------

--- The field lines of a case, and the first value of each name.
local function lines_of(case)
  local lines, first = {}, {}
  for name, value in pairs(case.headers) do
    if type(name) == "number" then name, value = value[1], value[2] end
    lines[#lines + 1] = { name, pure.octets(value) }
    first[name] = first[name] or pure.octets(value)
  end
  return lines, first
end

--- What becomes of the request, by tags alone (RFC 9110 §13.2.2): an outcome of the
--- corpus, or nil where a date decides.
local function outcome(case)
  local lines, first = lines_of(case)
  local exists, tag = case.resource.exists, case.resource.etag
  tag = tag == cjson.null and "" or pure.octets(tag)
  local is_read = case.method == "GET" or case.method == "HEAD"

  local match = list(lines, "IF_MATCH", tag, true)
  if match == "OTHER" or (match == "STAR" and not exists) then
    return "precondition-failed"
  end
  if match == "ABSENT" and first["If-Unmodified-Since"] then return nil end

  local none = list(lines, "IF_NONE_MATCH", tag, false)
  if none == "MATCH" or (none == "STAR" and exists) then
    return is_read and "not-modified" or "precondition-failed"
  end
  if none == "ABSENT" and is_read and first["If-Modified-Since"] then return nil end

  local wanted = first["If-Range"]
  if not first.Range then return "perform" end
  if wanted and wanted:find "GMT$" then return nil end
  local is_same = not wanted or C.lw_etag_equal_strong(slice(wanted), slice(tag))
  return is_same and "partial" or "full"
end

describe("Entity tags, the corpus of conditions", function()
  local judged = 0
  for _, case in ipairs(pure.cases "conditional") do
    local _, first = lines_of(case)
    local has_tags = first["If-Match"] or first["If-None-Match"] or first["If-Range"]
    local result = has_tags and outcome(case)
    if result then
      judged = judged + 1
      it("decide " .. case.id, function()
        local is_accepted = false
        for _, accepted in ipairs(case.expect) do
          is_accepted = is_accepted or accepted == result
        end
        assert.is_true(is_accepted, result)
      end)
    end
  end

  it("have cases to decide", function()
    assert.is_true(judged >= 70, tostring(judged))
  end)
end)

-- One tag -----------------------------------------------------------------------------

describe("An entity tag", function()
  for _, tag in ipairs {
    "\"\"", "\"v1\"", "W/\"v1\"", "W/\"\"", "\"a,b\"", "\"a\\\"", "\"W/\"", "\"*\"",
    "\"\195\169\"", "\"!#~\128\255\"",
  } do
    it("may be " .. shown(tag), function()
      assert.is_true(C.lw_etag_valid(slice(tag)))
      assert.equal(tag:sub(1, 2) == "W/", C.lw_etag_is_weak(slice(tag)))
    end)
  end

  for _, tag in ipairs {
    "", "\"", "v1", "'v1'", "\"v1", "v1\"", "W/", "W/v1", "W/\"", "W/\"v1", "w/\"v1\"",
    "W\"v1\"", "/\"v1\"", "W/ \"v1\"", "W/W/\"v1\"", " \"v1\"", "\"v1\" ", "\"v1\"x",
    "\"v1\",", "\"a\"b\"", "\"a\\\"b\"", "*",
  } do
    it("cannot be " .. shown(tag), function()
      assert.is_false(C.lw_etag_valid(slice(tag)))
    end)
  end

  it("holds every octet but controls, the space and the quote", function()
    for octet = 0, 255 do
      local tag = "\"a" .. string.char(octet) .. "b\""
      local is_allowed = octet > 32 and octet ~= 34 and octet ~= 127
      assert.equal(is_allowed, C.lw_etag_valid(slice(tag)), octet)
    end
  end)

  for _, row in ipairs {
    -- a            b             strongly  weakly   (RFC 9110 §8.8.3.2 and the edges)
    { "W/\"1\"",    "W/\"1\"",    false,    true },
    { "W/\"1\"",    "W/\"2\"",    false,    false },
    { "W/\"1\"",    "\"1\"",      false,    true },
    { "\"1\"",      "\"1\"",      true,     true },
    { "\"1\"",      "\"2\"",      false,    false },
    { "\"1\"",      "\"11\"",     false,    false },
    { "\"a\"",      "\"A\"",      false,    false },
    { "\"\"",       "\"\"",       true,     true },
    { "\"W/1\"",    "\"1\"",      false,    false },
    { "",           "",           false,    false },
    { "v1",         "v1",         false,    false },
    { "W/v1",       "v1",         false,    false },
    { "w/\"1\"",    "w/\"1\"",    false,    false },
    { "w/\"1\"",    "\"1\"",      false,    false },
    { "\"v 1\"",    "\"v 1\"",    false,    false },
    { "*",          "*",          false,    false },
  } do
    it(("%s and %s are compared"):format(shown(row[1]), shown(row[2])), function()
      for _, pair in ipairs { { row[1], row[2] }, { row[2], row[1] } } do
        local a, b = slice(pair[1]), slice(pair[2])
        assert.equal(row[3], C.lw_etag_equal_strong(a, b))
        assert.equal(row[4], C.lw_etag_equal_weak(a, b))
      end
    end)
  end
end)

-- Lists -------------------------------------------------------------------------------

describe("A list of entity tags", function()
  for _, row in ipairs {
    -- list                          current     strongly  weakly
    { "\"v1\"",                      "\"v1\"",   "MATCH",  "MATCH" },
    { "\"v2\"",                      "\"v1\"",   "OTHER",  "OTHER" },
    { "W/\"v1\"",                    "\"v1\"",   "OTHER",  "MATCH" },
    { "\"v1\"",                      "W/\"v1\"", "OTHER",  "MATCH" },
    { "W/\"v1\"",                    "W/\"v1\"", "OTHER",  "MATCH" },
    { "\"x\", \"v1\", \"y\"",        "\"v1\"",   "MATCH",  "MATCH" },
    { "\"x\",W/\"y\"\t,\t\"v1\"",    "\"v1\"",   "MATCH",  "MATCH" },
    { " ,\t, \"v1\" , ,",            "\"v1\"",   "MATCH",  "MATCH" },
    { "",                            "\"v1\"",   "OTHER",  "OTHER" },
    { " ,, ",                        "\"v1\"",   "OTHER",  "OTHER" },
    { "\"\"",                        "\"\"",     "MATCH",  "MATCH" },
    -- commas and spaces in quotes
    { "\"a,b\"",                     "\"a,b\"",  "MATCH",  "MATCH" },
    { "\"a,b\", \"c\"",              "\"c\"",    "MATCH",  "MATCH" },
    { "\"a, \",\"b\"",               "\",\"",    "OTHER",  "OTHER" },
    { "\"a b\", \"v1\"",             "\"v1\"",   "MATCH",  "MATCH" },
    { "\"v 1\"",                     "\"v 1\"",  "OTHER",  "OTHER" },
    { "\"a\\\", \"b\"",              "\"b\"",    "MATCH",  "MATCH" },
    -- the star
    { "*",                           "\"v1\"",   "STAR",   "STAR" },
    { "*",                           "",         "STAR",   "STAR" },
    { " , * ,",                      "\"v1\"",   "STAR",   "STAR" },
    { "*, *",                        "\"v1\"",   "STAR",   "STAR" },
    { "\"*\"",                       "\"v1\"",   "OTHER",  "OTHER" },
    { "*, \"v1\"",                   "\"v1\"",   "OTHER",  "OTHER" },
    { "\"v1\", *",                   "\"v1\"",   "OTHER",  "OTHER" },
    { "**",                          "\"v1\"",   "OTHER",  "OTHER" },
    { "W/*",                         "\"v1\"",   "OTHER",  "OTHER" },
    -- no tag
    { "\"\"",                        "",         "OTHER",  "OTHER" },
    { "\"v1\"",                      "",         "OTHER",  "OTHER" },
    { "",                            "",         "OTHER",  "OTHER" },
    -- malformed
    { "v1",                          "v1",       "OTHER",  "OTHER" },
    { "w/\"v1\"",                    "\"v1\"",   "OTHER",  "OTHER" },
    { "W/ \"v1\"",                   "\"v1\"",   "OTHER",  "OTHER" },
    { "W/",                          "W/",       "OTHER",  "OTHER" },
    { "\"v1\", v2",                  "\"v1\"",   "OTHER",  "OTHER" },
    { "v2, \"v1\"",                  "\"v1\"",   "OTHER",  "OTHER" },
    { "\"v1\", \"v2",                "\"v1\"",   "OTHER",  "OTHER" },
    { "\"v1\" \"v2\"",               "\"v1\"",   "OTHER",  "OTHER" },
    { "\"v1\"\"v2\"",                "\"v1\"",   "OTHER",  "OTHER" },
    { "\"v1\"; \"v2\"",              "\"v1\"",   "OTHER",  "OTHER" },
    { "\"v1\"-gzip",                 "\"v1\"",   "OTHER",  "OTHER" },
    { "\"",                          "\"",       "OTHER",  "OTHER" },
  } do
    it(("%s is held against %s"):format(shown(row[1]), shown(row[2])), function()
      assert.equal(row[3], strong(row[1], row[2]))
      assert.equal(row[4], weak(row[1], row[2]))
    end)
  end

  it("is all lines of its name in any case, and no other", function()
    local lines = {
      { "If-Match", "\"a\"" }, { "If-None-Match", "\"b\"" }, { "X-Match", "\"c\"" },
      { "IF-MATCH", "\"d\"" }, { "if-match", "" }, { "If-Range", "\"e\"" },
    }
    for tag, expected in pairs { a = "MATCH", d = "MATCH", b = "OTHER", c = "OTHER",
      e = "OTHER" } do
      assert.equal(expected, list(lines, "IF_MATCH", "\"" .. tag .. "\"", true), tag)
    end
    assert.equal("MATCH", list(lines, "IF_NONE_MATCH", "\"b\"", false))
  end)

  it("is absent when no line has its name", function()
    assert.equal("ABSENT", list({}, "IF_MATCH", "\"a\"", true))
    local other = { { "If-Match", "*" } }
    assert.equal("ABSENT", list(other, "IF_NONE_MATCH", "\"a\"", false))
  end)

  for title, values in pairs {
    ["a line of it is malformed"] = { "\"a\"", "b" },
    ["it has a star beside tags on another line"] = { "*", "\"a\"" },
    ["quotes stay open at the end of a line"] = { "\"x", "\"a\"" },
    ["quotes are closed on the next line"] = { "\"a", "b\"" },
  } do
    it("matches nothing when " .. title, function()
      for _, order in ipairs { { 1, 2 }, { 2, 1 } } do
        local lines = {}
        for i, from in ipairs(order) do lines[i] = { "If-Match", values[from] } end
        assert.equal("OTHER", list(lines, "IF_MATCH", "\"a\"", true))
        assert.equal("OTHER", list(lines, "IF_MATCH", "\"a, b\"", false))
      end
    end)
  end

  it("is read in no time when it is huge", function()
    local count = 2 ^ 18
    assert.equal("MATCH", weak(("\"x\","):rep(count) .. "\"v1\"", "\"v1\""))
    assert.equal("MATCH", strong((","):rep(count) .. "\"v1\"", "\"v1\""))
    local long = "\"" .. ("x"):rep(count) .. "\""
    assert.equal("MATCH", strong(long, long))
    assert.equal("OTHER", strong(("W/"):rep(count), "\"v1\""))
    assert.equal("OTHER", strong(("\""):rep(count + 1), "\"\""))
  end)
end)
