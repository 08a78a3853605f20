-- SPDX-License-Identifier: MIT
-- Default bodies (core/http/problem.h): which form a client gets, what stands in it,
-- and that a detail can neither leave its place nor the room there is.
local ffi = require "ffi"
local json = require "luaweb.json"
local pure = require "spec.support.pure"
local utf8 = require "luaweb.utf8"

local C = pure.load "http/problem"

local TEXT, HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"
local PROBLEM = "application/problem+json"
local SIZE = 1280 -- LW_PROBLEM_SIZE

--- The body and its media type.
---@param accept string|string[]|nil   the Accept fields of the request
---@param size? integer                how many octets of the detail count
---@param id? string                   of the request
local function write(accept, status, detail, size, id)
  local lines = type(accept) == "table" and accept or { accept }
  local list = ffi.new("struct luaweb_field[?]", #lines + 1)
  for i, line in ipairs(lines) do
    list[i - 1].name.data, list[i - 1].name.size = "Accept", 6
    list[i - 1].value.data, list[i - 1].value.size = line, #line
  end
  local headers = ffi.new("struct luaweb_fields", list, #lines)
  detail = detail or ""
  local slice = ffi.new("struct luaweb_slice", detail, size or #detail)
  id = id or ""
  local named = ffi.new("struct luaweb_slice", id, #id)
  local problem = ffi.new "struct lw_problem[1]"
  C.lw_problem_write(headers, status, slice, named, problem)
  local written = tonumber(problem[0].size)
  assert(written <= SIZE, written)
  return ffi.string(problem[0].text, written), pure.string(problem[0].type)
end

local function html(status, detail)
  return (write("text/html", status, detail))
end

local function problem_of(status, detail)
  return assert(json.decode((write(PROBLEM, status, detail))))
end

-- The text of the paragraph of a page, its character references replaced.
local function paragraph_of(page)
  local NAMES = { amp = "&", lt = "<", gt = ">", quot = '"', ["#39"] = "'" }
  local text = page:match "<p>(.-)</p>\n</body>\n</html>\n$"
  return text and (text:gsub("&(.-);", NAMES))
end

local all_octets = {}
for octet = 0, 255 do all_octets[#all_octets + 1] = string.char(octet) end
all_octets = table.concat(all_octets)

describe("The form of a default body", function()
  for _, row in ipairs {
    -- Accept                                                      form
    { nil,                                                         TEXT },
    { "",                                                          TEXT },
    { "*/*",                                                       TEXT },
    { "text/*",                                                    TEXT },
    { "text/plain",                                                TEXT },
    { "TEXT/Plain;Charset=UTF-8",                                  TEXT },
    { "image/png",                                                 TEXT },
    { "text/plain;charset=latin1",                                 TEXT },
    { "*/*;q=0",                                                   TEXT },
    { "malformed",                                                 TEXT },
    { "text/html",                                                 HTML },
    { "text/html;charset=utf-8",                                   HTML },
    { "text/html;q=0.2, text/plain;q=0.1",                         HTML },
    { "*/*, text/plain;q=0.5",                                     HTML },
    { "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", HTML },
    { "application/problem+json",                                  PROBLEM },
    { "Application/Problem+JSON; charset=utf-8",                   PROBLEM },
    { "application/*",                                             PROBLEM },
    { "application/json",                                          PROBLEM },
    { "application/json; charset=UTF-8",                           PROBLEM },
    { "application/json, text/html;q=0.9, */*;q=0.1",              PROBLEM },
    { "text/html, application/json;q=0.9",                         HTML },
    { "*/*;q=0.1, application/problem+json;q=0.2",                 PROBLEM },
    { { "text/html;q=0.3", "application/json;q=0.4" },             PROBLEM },
    { "application/json;q=0",                                      TEXT },
  } do
    local accept, form = row[1], row[2]
    local shown = type(accept) == "table" and table.concat(accept, " and ") or accept
    it(("is %s for %s"):format(form, shown or "no Accept at all"), function()
      local body, media_type = write(accept, 404)
      assert.equal(form, media_type)
      local first = { [TEXT] = "4", [HTML] = "<", [PROBLEM] = "{" }
      assert.equal(first[form], body:sub(1, 1))
    end)
  end
end)

describe("A default body as text", function()
  it("has the status with its reason, and the detail when there is one", function()
    assert.equal("404 Not Found\n", (write(nil, 404)))
    assert.equal("404 Not Found: no such item\n", (write(nil, 404, "no such item")))
  end)

  it("has the number alone of a status without a reason", function()
    assert.equal("599\n", (write(nil, 599)))
    assert.equal("299: strange <but> \"true\"\n",
      (write(nil, 299, 'strange <but> "true"')))
  end)

  it("is one line without control characters", function()
    assert.equal("400 Bad Request: a  b c d e\194\160f\n",
      (write(nil, 400, "a\r\nb\0c\127d\194\159e\194\160f")))
  end)
end)

describe("A default body as HTML", function()
  it("is a whole page", function()
    assert.equal([[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>404 Not Found</title>
</head>
<body>
<h1>404 Not Found</h1>
<p>no such item</p>
</body>
</html>
]], html(404, "no such item"))
  end)

  it("has no paragraph without a detail", function()
    assert.matches("<h1>599</h1>\n</body>", html(599), 1, true)
    assert.matches("<title>599</title>", html(599), 1, true)
  end)

  it("has a detail as text, whatever it holds", function()
    local detail = [[<script>alert("a&amp;b")</script> 'x' é]]
    local page = html(404, detail)
    assert.matches("<p>&lt;script&gt;alert(&quot;a&amp;amp;b&quot;)&lt;/script&gt; "
      .. "&#39;x&#39; é</p>", page, 1, true)
    assert.equal(detail, paragraph_of(page))
  end)

  it("has spaces in the place of control characters", function()
    assert.equal("a   b", paragraph_of(html(404, "a\n\0\27b")))
  end)
end)

describe("A default body as a problem", function()
  it("has title, status and detail", function()
    assert.equal('{"title":"Not Found","status":404,"detail":"no such item"}\n',
      (write(PROBLEM, 404, "no such item")))
    assert.equal('{"title":"Not Found","status":404}\n', (write(PROBLEM, 404)))
  end)

  it("has no title of a status without a reason", function()
    assert.equal('{"status":599,"detail":"x"}\n', (write(PROBLEM, 599, "x")))
  end)

  it("has a detail that reads back as what went in", function()
    for octet = 0, 127 do
      local detail = "a" .. string.char(octet) .. "é"
      assert.equal(detail, problem_of(400, detail).detail)
    end
    assert.equal([["\]] .. "\n€", problem_of(400, [["\]] .. "\n€").detail)
  end)

  it("has the reasons of all statuses as its titles", function()
    local reasons, count = {}, 0
    for line in io.lines "core/base/status.h" do
      for status, reason in line:gmatch 'X%((%d+), "([^"]+)"%)' do
        reasons[tonumber(status)], count = reason, count + 1
      end
    end
    assert.is_true(count > 40)
    for status = 200, 599 do
      local reason = reasons[status]
      assert.same({ title = reason, status = status }, problem_of(status))
      local line = reason and status .. " " .. reason or status
      assert.matches("<h1>" .. line .. "</h1>", html(status), 1, true)
    end
  end)
end)

describe("The detail of a default body", function()
  it("has U+FFFD for each octet that is not UTF-8", function()
    local broken, whole = "a\255\192\175b\226\130", "a���b��"
    assert.equal("400 Bad Request: " .. whole .. "\n", (write(nil, 400, broken)))
    assert.equal(whole, paragraph_of(html(400, broken)))
    assert.equal(whole, problem_of(400, broken).detail)
  end)

  it("ends where it was said to end, and be it within a character", function()
    assert.equal("404 Not Found: ab\n", (write(nil, 404, "abc", 2)))
    assert.equal("404 Not Found: a��\n", (write(nil, 404, "a€", 3)))
  end)

  it("is not cut when it has 700 octets of plain text", function()
    local detail = ("x"):rep(700)
    assert.equal(detail, paragraph_of(html(431, detail)))
    assert.equal(detail, problem_of(431, detail).detail)
    assert.equal("431 Request Header Fields Too Large: " .. detail .. "\n",
      (write(nil, 431, detail)))
  end)

  for name, character in pairs { letter = "a", ["letter of two octets"] = "é",
    ["letter of three octets"] = "€", ["letter of four octets"] = "😀",
    quote = '"', ["less-than sign"] = "<", ampersand = "&", backslash = "\\",
    ["control character"] = "\1" } do
    it("is cut between two characters: " .. name, function()
      for shift = 0, 6 do
        local detail = ("-"):rep(shift) .. character:rep(2000)
        local details = {
          text = write(nil, 431, detail):match ": (.*)\n$",
          html = paragraph_of(html(431, detail)),
          problem = problem_of(431, detail).detail,
        }
        for form, found in pairs(details) do
          assert.is_nil(utf8.find_invalid(found, 1, #found))
          local wanted = form ~= "problem" and detail:gsub("\1", " ") or detail
          local kept = assert(found:match "^(.*)%.%.%.$", form)
          assert.equal(wanted:sub(1, #kept), kept)
          assert.equal(0, (#kept - shift) % #character)
          assert.is_true(#kept > 100)
        end
      end
    end)
  end

  it("stays in its place and its room, whatever octets it has", function()
    for _ = 1, 1000 do
      local octets = {}
      for i = 1, math.random(0, 1200) do
        local at = math.random(math.random(1, 256))
        octets[i] = all_octets:sub(at, at)
      end
      local detail = table.concat(octets)
      local text, page = write(nil, 500, detail), html(500, detail)
      assert.matches("^500 Internal Server Error[^%c]*\n$", text)
      assert.equal(detail ~= "", paragraph_of(page) ~= nil)
      local _, tags = page:gsub("<", "")
      assert.equal(detail ~= "" and 14 or 12, tags)
      assert.equal(500, problem_of(500, detail).status)
      for _, body in ipairs { text, page } do
        assert.is_nil(utf8.find_invalid(body, 1, #body))
      end
    end
  end)
end)

describe("The name of a request in a default body", function()
  it("is a line of text, a line of HTML, a member of a problem", function()
    assert.equal("500 Internal Server Error\nRequest id: 7f-1\n",
      (write(nil, 500, "", nil, "7f-1")))
    assert.matches("<h1>500 Internal Server Error</h1>\n"
      .. "<p>Request id: <code>7f%-1</code></p>\n</body>",
      (write("text/html", 500, "", nil, "7f-1")))
    assert.equal('{"title":"Internal Server Error","status":500,"request_id":"7f-1"}\n',
      (write(PROBLEM, 500, "", nil, "7f-1")))
  end)

  it("stands whole behind a detail that is cut", function()
    local id, detail = ("i"):rep(128), ("&"):rep(2000)
    for _, accept in ipairs { "text/plain", "text/html", PROBLEM } do
      assert.is_truthy((write(accept, 431, detail, nil, id)):find(id, 1, true))
    end
  end)

  it("is left out where there is none", function()
    for _, accept in ipairs { "text/plain", "text/html", PROBLEM } do
      assert.is_nil((write(accept, 500)):lower():find "request.id")
    end
  end)
end)
