-- SPDX-License-Identifier: MIT
-- Taking content codings off (core/http/decode.h): RFC 9110 §8.4.
local decoder = require "spec.support.decoder"
local encode = require "spec.support.encode"

local decode, refusal = decoder.decode, decoder.refusal
local decoder_for = decoder.decoder_for

local MIB = 1024 * 1024

-- Text that can be compressed, but not to nothing.
local lines = {}
for i = 1, 6000 do lines[i] = ("%d the quick brown fox %d\n"):format(i, i * i % 997) end
local TEXT = table.concat(lines)

local ALL = { "gzip", "x-gzip", "deflate", "br", "zstd" }

for _, coding in ipairs(ALL) do
  describe("content in " .. coding, function()
    it("is decoded, however it arrives", function()
      local octets = encode.all(coding, TEXT)
      assert.is_true(#octets < #TEXT / 2)
      for _, step in ipairs { 1, 2, 13, 4096, #octets } do
        assert.is_true(TEXT == decode(coding, octets, step), step)
      end
    end)

    it("may be empty inside its coding, and without it", function()
      for _, step in ipairs { 1, 100 } do
        assert.equal("", decode(coding, encode.all(coding, ""), step))
      end
      assert.equal("", decode(coding, ""))
    end)

    it("is refused when it is cut short, wherever", function()
      local octets = encode.all(coding, TEXT:sub(1, 300))
      for size = 1, #octets - 1 do
        assert.matches("ends inside", refusal(coding, octets:sub(1, size)))
        assert.matches("ends inside", refusal(coding, octets:sub(1, size), 1))
      end
    end)

    it("is refused when something follows", function()
      local octets = encode.all(coding, "hello")
      for _, garbage in ipairs { "x", "\0", ("\0"):rep(8), "hello, this is more" } do
        for _, step in ipairs { 1, #octets, #octets + #garbage } do
          local why = refusal(coding, octets .. garbage, step)
          assert.matches("something", why)
        end
      end
    end)

    it("is refused when it is something else", function()
      for _, octets in ipairs { "<html>not encoded</html>", ("\255"):rep(9) } do
        refusal(coding, octets)
        refusal(coding, octets, 1)
      end
    end)

    it("is refused above the limit, of which nothing is given", function()
      local octets = encode.all(coding, TEXT)
      for _, step in ipairs { 7, #octets } do
        assert.is_true(TEXT == decode(coding, octets, step, #TEXT))
        local content, status, why, size = decode(coding, octets, step, #TEXT - 1)
        assert.same({ nil, 413, "there is more of it than the limit" },
          { content, status, why })
        assert.is_true(size < #TEXT)
      end
    end)
  end)
end

describe("content that blows up", function()
  local zeros = ("\0"):rep(8 * MIB)
  local bombs = {
    gzip = encode.gzip(zeros),
    deflate = encode.deflate(zeros),
    br = encode.br(zeros),
    zstd = encode.zstd_frame(20, encode.zstd_run("\0", 131072):rep(64)
      .. encode.zstd_last ""),
  }

  for coding, bomb in pairs(bombs) do
    it("is refused behind the first MiB, in " .. coding, function()
      assert.is_true(#bomb < 9000)
      for _, step in ipairs { 100, #bomb } do
        local content, status, why, size = decode(coding, bomb, step, 1e9, 900)
        assert.same({ nil, 413, "there is far more of it than was received" },
          { content, status, why })
        assert.is_true(size <= 1.1 * MIB)
      end
    end)

    it("is fine without a ratio, up to the limit, in " .. coding, function()
      assert.equal(8 * MIB, #decode(coding, bomb))
      local _, status, _, size = decode(coding, bomb, 100, 100000)
      assert.equal(413, status)
      assert.is_true(size <= 100000)
    end)
  end

  it("is refused where it blows up inside another coding", function()
    local twice = encode.gzip(bombs.gzip)
    assert.is_true(#twice < 200)
    assert.equal(8 * MIB, #decode("gzip, gzip", twice))
    local _, status, _, size = decode("gzip, gzip", twice, nil, 1e9, 1000)
    assert.same({ 413, true }, { status, size <= 1.1 * MIB })
    -- The outer one gives much, of which the inner one makes nothing.
    local idle = encode.br(encode.gzip(""):rep(200000))
    _, status, _, size = decode("gzip, br", idle, nil, 1e9, 1000)
    assert.same({ 413, 0 }, { status, size })
    _, status = decode("gzip, br", idle, nil, 100000)
    assert.equal(413, status)
  end)

  it("may be of any ratio in its first MiB", function()
    local octets = encode.br(("\0"):rep(MIB))
    assert.equal(MIB, #decode("br", octets, nil, 1e9, 1))
    assert.is_nil((decode("br", encode.br(("\0"):rep(MIB + 1)), nil, 1e9, 1)))
  end)
end)

describe("the codings of content", function()
  it("are taken off from the last to the first", function()
    for _, codings in ipairs { "gzip, br", "br,gzip", "zstd , deflate", "gzip,br,zstd",
      "identity, gzip, identity" } do
      local octets = encode.all(codings, TEXT)
      for _, step in ipairs { 1, 1000, #octets } do
        assert.is_true(TEXT == decode(codings, octets, step), codings)
      end
      assert.is_nil((decode(codings, octets:sub(1, -2))))
    end
  end)

  it("are known in any case", function()
    assert.equal("hello", decode("GZip", encode.gzip "hello"))
    assert.equal("hello", decode("X-GZIP", encode.gzip "hello"))
  end)

  it("may be none", function()
    for _, codings in ipairs { "", "identity", " , ,", "identity, Identity" } do
      for _, step in ipairs { 1, 100 } do
        assert.equal("hello", decode(codings, "hello", step))
      end
      assert.equal("", decode(codings, ""))
      assert.equal(413, (select(2, decode(codings, "hello", 1, 4))))
    end
  end)

  it("are three at most, and not unknown", function()
    assert.is_nil(decoder_for "gzip, gzip, gzip, gzip")
    assert.is_not_nil(decoder_for "gzip, gzip, gzip, identity")
    for _, codings in ipairs { "compress", "gzip2", "gzi", "gzip;q=1", "*", "gzip, foo",
      "br br", "\"gzip\"" } do
      assert.is_nil(decoder_for(codings), codings)
    end
  end)
end)
