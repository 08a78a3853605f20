-- SPDX-License-Identifier: MIT
-- Range requests on the wire: the corpus against representations of each size, known to
-- C and made by a handler; what a part has of the whole.  RFC 9110 §13.1.5, §14.
local byteranges = require "spec.support.byteranges"
local pure = require "spec.support.pure"
local regex = require "spec.support.regex"
local web = require "luaweb"
local wire = require "spec.support.machine_wire"

local TAG, DATE = '"v1"', 784111777
local LARGE = 200000 -- octets: more than goes out in one piece

--- Octets of which no two stretches are equal.
local function octets(size)
  local words = {}
  for i = 1, math.ceil(size / 8) do words[i] = ("%08d"):format(i) end
  return table.concat(words):sub(1, size)
end

local function done() return 204 end

local client_of = wire.kept(function(state)
  local content = web.bytes("text/csv", octets(state.size))
  return wire.client {
    handle_ok = state.is_made and function() return content end or content,
    accept_ranges = true, entity_tag = TAG, last_modified = DATE, vary = { "X-A" },
    cache_control = "max-age=60", expires = DATE, do_put = done, do_delete = done,
    available_languages = { "en" },
  }
end)

-- The corpus --------------------------------------------------------------------------

local function ask(case, is_made, range)
  local client = client_of { size = case.size, is_made = is_made }
  local headers = {}
  if type(range) == "string" then range = { range } end
  if range then headers.Range = {} end
  for i, line in ipairs(range or {}) do headers.Range[i] = pure.octets(line) end
  return client:request(case.method, "/x", { headers = headers })
end

local function is_same(wanted, parts)
  if #wanted ~= #parts then return false end
  for i, part in ipairs(parts) do
    if part.first ~= wanted[i][1] or part.last ~= wanted[i][2] then return false end
  end
  return true
end

-- Why an outcome is not this one, or nil.
local checks = {
  status = function(status, res, whole)
    if status == "same-as-without-range" then status = whole.status end
    return res.status ~= status and "status"
  end,
  ranges = function(wanted, _, _, parts)
    return not is_same(wanted, parts) and "ranges"
  end,
  any_ranges = function(_, _, _, parts) return #parts == 0 and "no ranges" end,
  content_range = function(text, res)
    return res.headers["content-range"] ~= text and "Content-Range"
  end,
  headers = function(wanted, res)
    for name, text in pairs(wanted) do
      if res.headers[name] ~= text then return name end
    end
  end,
  same_headers_as_200 = function(names, res, whole)
    for _, name in ipairs(names) do
      local is_date = name == "date" -- which may have gone on
      if (is_date and not res.headers.date)
        or (not is_date and res.headers[name] ~= whole.headers[name]) then
        return name
      end
    end
  end,
  must_not_content_type_re = function(re, res)
    local media_type = res.headers["content-type"]
    return media_type and regex.matches(re, media_type) and "Content-Type"
  end,
}

local function difference(outcome, res, whole, parts)
  for name, wanted in pairs(outcome) do
    local why = checks[name](wanted, res, whole, parts)
    if why then return why end
  end
end

local function judge(case, res, whole)
  local parts = res.status == 206 and byteranges.read(res, octets(case.size)) or {}
  local reasons = {}
  for i, outcome in ipairs(case.accept) do
    reasons[i] = difference(outcome, res, whole, parts)
    if not reasons[i] then return end
  end
  error(("%d: %s"):format(res.status, table.concat(reasons, "; ")), 0)
end

describe("a range", function()
  for _, case in ipairs(pure.cases "range") do
    for title, is_made in pairs { ["that C knows"] = false, ["that is made"] = true } do
      it(("of content %s: %s"):format(title, case.id), function()
        local whole = ask(case, is_made)
        if case.method == "GET" then assert.equal(octets(case.size), whole.body) end
        judge(case, ask(case, is_made, case.range), whole)
      end)
    end
  end
end)

-- What a part has of the whole --------------------------------------------------------

local function get(state, headers)
  return client_of(state):get("/x", { headers = headers })
end

local KINDS = {
  ["that C knows"] = { size = 1000, is_made = false },
  ["that is made"] = { size = 1000, is_made = true },
  ["that is large and known"] = { size = LARGE, is_made = false },
  ["that is large and made"] = { size = LARGE, is_made = true },
}

for title, state in pairs(KINDS) do
  describe("content " .. title, function()
    local whole = octets(state.size)
    local full = get(state)

    it("says that it may be asked for in parts", function()
      assert.same({ 200, "bytes", "text/csv", "en" }, { full.status,
        full.headers["accept-ranges"], full.headers["content-type"],
        full.headers["content-language"] })
      assert.equal(whole, full.body)
    end)

    it("has in one part what the whole has", function()
      local res = get(state, { Range = "bytes=-100" })
      local part = byteranges.read(res, whole)[1]
      assert.same({ 206, state.size - 100, state.size - 1 },
        { res.status, part.first, part.last })
      assert.equal("100", res.headers["content-length"])
      for _, name in ipairs { "etag", "last-modified", "cache-control", "expires",
        "vary", "content-type", "content-language" } do
        assert.equal(full.headers[name], res.headers[name], name)
      end
    end)

    it("has in several parts what the whole has, and in each its type", function()
      local res = get(state, { Range = "bytes=0-0, 500-599, -1" })
      local parts = byteranges.read(res, whole)
      assert.same({ 206, 3 }, { res.status, #parts })
      for _, part in ipairs(parts) do assert.equal("text/csv", part.media_type) end
      assert.equal(tostring(#res.body), res.headers["content-length"])
      for _, name in ipairs { "etag", "last-modified", "cache-control", "expires",
        "vary" } do
        assert.equal(full.headers[name], res.headers[name], name)
      end
    end)

    for line, value in pairs { tag = TAG, date = full.headers["last-modified"] } do
      it("is not described again to who has the rest, by its " .. line, function()
        local res = get(state, { Range = "bytes=1-2", ["If-Range"] = value })
        assert.same({ 206, TAG, "max-age=60", "X-A" }, { res.status, res.headers.etag,
          res.headers["cache-control"], res.headers.vary })
        assert.equal(whole:sub(2, 3), res.body)
        for _, name in ipairs { "last-modified", "content-type", "content-language" } do
          assert.is_nil(res.headers[name], name)
        end
      end)
    end

    it("that has changed is sent whole, even where no range fits", function()
      for _, range in ipairs { "bytes=1-2", "bytes=999999999-" } do
        local res = get(state, { Range = range, ["If-Range"] = '"v0"' })
        assert.same({ 200, full.headers }, { res.status, res.headers })
        assert.equal(whole, res.body)
      end
    end)

    it("without such a range is a 416 of its size, and no more is told", function()
      local res = get(state, { Range = "bytes=999999999-", Accept = "text/html" })
      assert.same({ 416, "bytes */" .. state.size, "text/html; charset=utf-8" },
        { res.status, res.headers["content-range"], res.headers["content-type"] })
      assert.matches("<h1>416 Range Not Satisfiable</h1>", res.body)
      for _, name in ipairs { "etag", "last-modified", "cache-control", "expires",
        "content-language" } do
        assert.is_nil(res.headers[name], name)
      end
    end)

    it("is not cut for HEAD, nor to who has it", function()
      local head = client_of(state):head("/x", { headers = { Range = "bytes=0-1" } })
      assert.same({ 200, tostring(state.size) },
        { head.status, head.headers["content-length"] })
      local res = get(state, { Range = "bytes=0-1", ["If-None-Match"] = TAG })
      assert.equal(304, res.status)
    end)
  end)
end

describe("a range", function()
  local RANGE = { headers = { Range = "bytes=2-3,5-5" } }

  local function part_of(keys)
    local client = wire.client(wire.with({ accept_ranges = true }, keys))
    return client:get("/x", RANGE)
  end

  it("is not served where the machine has none", function()
    local res = wire.client { handle_ok = "0123456789" }:get("/x", RANGE)
    assert.same({ 200, "0123456789" }, { res.status, res.body })
    assert.is_nil(res.headers["accept-ranges"])
  end)

  it("is not served of what the handler gives another status", function()
    local res = part_of { handle_ok = function()
      return web.status(203):text "0123456789"
    end }
    assert.same({ 203, "0123456789" }, { res.status, res.body })
  end)

  it("is not served of a stream, whose length nobody knows", function()
    local res = part_of { handle_ok = function()
      return web.streaming(function(out) out:write "0123456789" end)
    end }
    assert.same({ 200, "0123456789" }, { res.status, res.body })
  end)

  it("is served of JSON and of text, whose parts say what they are", function()
    local parts = byteranges.read(part_of { handle_ok = function()
      return { 1, 2, 3 }
    end }, "[1,2,3]")
    assert.same({ "application/json", "application/json" },
      { parts[1].media_type, parts[2].media_type })
    parts = byteranges.read(part_of { handle_ok = "0123456789" }, "0123456789")
    assert.equal("text/plain; charset=utf-8", parts[1].media_type)
  end)

  it("has its type on its parts where the handler wrote it as a field", function()
    local res = part_of { handle_ok = function()
      return web.text("0123456789"):header("Content-Type", "text/csv")
    end }
    local parts = byteranges.read(res, "0123456789")
    assert.same({ 2, "text/csv" }, { #parts, parts[1].media_type })
  end)

  it("goes on with a date only when its second is over", function()
    local function status(modified)
      local client = wire.client { accept_ranges = true, handle_ok = "0123456789",
        last_modified = modified }
      local date = client:get("/x").headers["last-modified"]
      return client:get("/x", { headers = { Range = "bytes=2-4",
        ["If-Range"] = date } }).status
    end
    local ago = os.time() - 1
    assert.equal(206, status(function() return ago end))
    assert.equal(200, status(function() return os.time() end))
  end)

  it("is of the chosen representation", function()
    local client = wire.client { accept_ranges = true, handle_ok = {
      ["text/plain"] = "0123456789",
      ["application/json"] = function() return { "abcdef" } end,
    } }
    local res = client:get("/x", { headers = { Range = "bytes=2-4",
      Accept = "application/json" } })
    assert.same({ 206, "abc", "application/json", "Accept" }, { res.status, res.body,
      res.headers["content-type"], res.headers.vary })
  end)
end)
