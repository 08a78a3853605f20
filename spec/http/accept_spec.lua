-- SPDX-License-Identifier: MIT
-- Negotiation (core/http/accept.h): RFC 9110 §12.5, RFC 4647 §3, the corpus, the edges.
local cjson = require "cjson"
local pure = require "spec.support.pure"
local M = require "spec.support.negotiation"

local MEDIA, LANGUAGE, CHARSET, CODING = M.MEDIA, M.LANGUAGE, M.CHARSET, M.CODING
local choose, quality = M.choose, M.quality

local DIMENSIONS = {
  media = MEDIA, language = LANGUAGE, charset = CHARSET, encoding = CODING,
}

describe("Negotiation, the corpus", function()
  local function header_of(case)
    if case.header == cjson.null then return nil end
    if type(case.header) == "string" then return pure.octets(case.header) end
    local lines = {}
    for i, line in ipairs(case.header) do lines[i] = pure.octets(line) end
    return lines
  end

  local function is_right(case, offer)
    if not offer then return #case.best == 0 or case.none_ok == true end
    for _, best in ipairs(case.best) do
      if best == offer then return true end
    end
    return false
  end

  for _, case in ipairs(pure.cases "negotiation") do
    local dimension = assert(DIMENSIONS[case.dimension])
    assert(case.header_name == M.FIELDS[dimension]:lower())

    it("chooses " .. case.id, function()
      local offer = choose(dimension, header_of(case), case.offers)
      assert(is_right(case, offer), "chose " .. tostring(offer))
    end)

    if case.q then
      it("weighs " .. case.id, function()
        for offer, weight in pairs(case.q) do
          assert.equal(math.floor(weight * 1000 + 0.5),
            quality(dimension, header_of(case), offer), offer)
        end
      end)
    end
  end
end)

describe("A choice", function()
  it("is the first of equals, in the server's order", function()
    for _, header in ipairs { "a/b, c/d", "c/d, a/b", "*/*", "a/b;q=0.3,c/*;q=0.3" } do
      assert.equal("a/b", choose(MEDIA, header, { "a/b", "c/d" }))
      assert.equal("c/d", choose(MEDIA, header, { "c/d", "a/b" }))
    end
  end)

  it("is the first offer where the client sends no such field", function()
    for dimension in pairs(M.FIELDS) do
      assert.equal("x/y", choose(dimension, nil, { "x/y", "z/y" }))
      assert.equal(1000, quality(dimension, nil, "x/y"))
    end
  end)

  it("is none where there are no offers", function()
    for dimension in pairs(M.FIELDS) do
      assert.is_nil(choose(dimension, nil, {}))
      assert.is_nil(choose(dimension, "*", {}))
    end
  end)

  it("looks at all lines of a field, in any case of its name", function()
    local lines = { "a/b;q=0.1", "c/d;q=0.3", "e/f;q=0.2" }
    assert.equal("c/d", choose(MEDIA, lines, { "e/f", "c/d", "a/b" }))
    assert.equal("a/b", choose(MEDIA, lines, { "a/b" }))
  end)

  it("is the first offer where no member of the field is well-formed", function()
    for _, header in ipairs {
      "", ",", " ,\t", "text", "a/b;q=2", "*/b, a/, ;q=1", "a b/c", "a/b c, a/b/c", "/",
    } do
      assert.equal("c/d", choose(MEDIA, header, { "c/d", "a/b" }))
    end
    assert.equal("fr", choose(LANGUAGE, "e_n, en;q=", { "fr", "en" }))
    assert.equal("fr", choose(LANGUAGE, "1, e1, de-, ;q=1", { "fr", "en" }))
    assert.equal("utf-8", choose(CHARSET, "\"utf-8\", ;q=0.1", { "utf-8" }))
  end)

  it("is none where a well-formed member matches no offer", function()
    assert.is_nil(choose(MEDIA, "text, e/f", { "c/d", "a/b" }))
    assert.is_nil(choose(MEDIA, "text, c/d;q=0", { "c/d", "a/b" }))
    assert.is_nil(choose(LANGUAGE, "e_n, de", { "en" }))
    assert.is_nil(choose(CHARSET, "latin1", { "utf-8" }))
  end)
end)

describe("A media range", function()
  for _, row in ipairs {
    -- Accept                               offer                      weight
    { "*/*;q=0.1, a/*;q=0.2, a/b;q=0.3",    "a/b",                     300 },
    { "a/b;q=0.3, a/*;q=0.2, */*;q=0.1",    "a/c",                     200 },
    { "a/b;q=0.3, a/*;q=0.2, */*;q=0.1",    "c/b",                     100 },
    { "a/*;x=1;q=0.2, a/b;q=0.3",           "a/b;x=1",                 300 },
    { "a/*;x=1;q=0.2, a/*;q=0.3",           "a/b;x=1",                 200 },
    { "a/b;x=1;y=2;q=0.2, a/b;x=1",         "a/b;y=2;x=1",             200 },
    { "a/b;x=1;y=2;q=0.2, a/b;x=1",         "a/b;x=1",                 1000 },
    { "a/b;x=1, a/b;y=2;x=1;q=0.2",         "a/b;x=1;y=2",             200 },
    { "a/b;x=1",                            "a/b",                     0 },
    { "a/b",                                "a/b;x=1",                 1000 },
    { "A/B;X=1",                            "a/b;x=1",                 1000 },
    { "a/b;x=y",                            "a/b;x=Y",                 0 },
    { "a/b;charset=UTF-8",                  "a/b; charset=utf-8",      1000 },
    { "a/b;charset=\"UTF\\-8\"",            "a/b ;charset=utf-8",      1000 },
    { "a/b ; x=\",\" ; q=0.5",              "a/b;x=\",\"",             500 },
    { "a/b;x=\"\\\",\";q=0.5, */*",         "a/b;x=\"\\\",\"",         500 },
    { "a/b;;q=0.5",                         "a/b",                     500 },
    { "a/b;q=0.2, a/b;q=0.4, a/b;q=0.3",    "a/b",                     400 },
    { "a/b;x, */*;q=0.5",                   "a/b",                     500 },
    { "a/b;x=\"y, a/b",                     "a/b",                     1000 },
    { "*/*, a/b;x=\"y, a/b;q=0",            "a/b",                     1000 },
    { "a\"/b, */*;q=0.7, \", c/d",          "a/b",                     0 },
    { "*, a/b;q=0.5",                       "c/d",                     0 },
    { "a/b/c, */*;q=0.5",                   "a/b",                     500 },
    { "*/b, c/*",                           "a/b",                     0 },
    { "a*/*, c/d",                          "a/b",                     0 },
  } do
    it(("%s gives %s %d"):format(row[1], row[2], row[3]), function()
      assert.equal(row[3], quality(MEDIA, row[1], row[2]))
    end)
  end
end)

describe("A language range", function()
  for _, row in ipairs {
    -- Accept-Language                      offer          weight
    { "EN-us",                              "en-US",       1000 },
    { "en;q=0.2, en-us;q=0.1",              "en-US-x-a",   100 },
    { "en-US;q=0.4, *;q=0.9",               "en",          400 },
    { "en-GB;q=0.2, en-US;q=0.4",           "en",          400 },
    { "en-US;q=0, *;q=0.3",                 "en",          300 },
    { "en-US, en;q=0",                      "en",          0 },
    { "en-US",                              "e",           0 },
    { "eng, fr",                            "en",          0 },
    { "en-, fr",                            "en",          0 },
    { "en-U S, fr",                         "en",          0 },
    { "en-abcdefghi, fr",                   "en",          0 },
    { "en-1997-x",                          "en-1997",     1000 },
    { "*-CH, fr",                           "de-CH",       0 },
  } do
    it(("%s gives %s %d"):format(row[1], row[2], row[3]), function()
      assert.equal(row[3], quality(LANGUAGE, row[1], row[2]))
    end)
  end
end)

describe("A charset", function()
  it("is compared in any case, before the star", function()
    assert.equal(200, quality(CHARSET, "*, UTF-8;q=0.2", "utf-8"))
    assert.equal(300, quality(CHARSET, "*;q=0.3, latin1", "utf-8"))
  end)
end)

describe("A content coding", function()
  it("has an old name for gzip and for compress, and no other", function()
    assert.equal(200, quality(CODING, "X-Gzip;q=0.2, *", "gzip"))
    assert.equal(200, quality(CODING, "compress;q=0.2, *", "x-compress"))
    assert.equal(1000, quality(CODING, "x-br;q=0.2, *", "br"))
  end)

  for _, row in ipairs {
    -- Accept-Encoding          identity  of gzip and br, or none
    { nil,                      true,     "gzip" },
    { "",                       true,     nil },
    { "gz ip",                  true,     nil },
    { "deflate",                true,     nil },
    { "*",                      true,     "gzip" },
    { "gzip;q=0.001",           true,     "gzip" },
    { "gzip, br;q=0.9",         true,     "gzip" },
    { "gzip;q=0.8, br",         true,     "br" },
    { "gzip, identity",         true,     "gzip" },
    { "gzip;q=0.4, identity",   true,     nil },
    { "gzip;q=0.4, identity;q=0.4", true, "gzip" },
    { "br;q=0.5, *;q=0.6",      true,     "gzip" },
    { "br;q=0.5, gzip;q=0, *",  true,     nil },
    { "identity;q=0",           false,    nil },
    { "*;q=0",                  false,    nil },
    { "*;q=0, br;q=0.1",        false,    "br" },
    { "*;q=0, IDENTITY;q=0.1",  true,     nil },
    { "gzip;q=0",               true,     nil },
  } do
    it("is chosen beside identity for " .. (row[1] or "no field"), function()
      assert.equal(row[2], M.takes_identity(row[1]))
      assert.equal(row[3], M.choose_coding(row[1], { "gzip", "br" }))
    end)
  end

  it("is not identity by default where the client asks for any other", function()
    assert.equal("br", choose(CODING, "br;q=0.001", { "identity", "br" }))
    assert.equal("identity", choose(CODING, "br;q=0", { "br", "identity" }))
    assert.equal(1, quality(CODING, "br", "identity"))
  end)
end)
