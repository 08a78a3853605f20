-- SPDX-License-Identifier: MIT
-- What `luaweb explain` says of choices, schemes and failures: who it was, and why.
local json = require "luaweb.json"
local process = require "spec.support.process"

local APP = "spec/apps/explained.lua"

after_each(process.clean)

-- What it tells of a request, as JSON has it, and what it wrote to the error log.
local function explained(...)
  local ended = process.run("explain", APP, "--json", ...)
  assert(ended.code == 0, ended.errors)
  return json.decode(ended.output), ended.errors
end

-- The answer of a row, and its reason.
local function row_of(all, name)
  for _, row in ipairs(all.walk.rows) do
    if row.name == name then return ("%s %s"):format(row.answer, row.reason) end
  end
  error("the walk does not pass " .. name, 2)
end

local function type_source(all)
  for _, field in ipairs(all.response.fields) do
    if field.name == "Content-Type" then return field.from end
  end
end

describe("a choice", function()
  local function because(row, reason, ...)
    local words = { ... }
    it(("is explained: %s %s"):format(row, reason), function()
      assert.equal(reason, row_of(explained(unpack(words)), row))
    end)
  end

  local function of(name, value) return "-H", ("%s: %s"):format(name, value) end

  because("language_offered", "yes one of available_languages goes with de-CH, de",
    "/choice", of("Accept-Language", "de-CH, de"))
  because("language_offered", "yes none of available_languages goes with fr; "
    .. "not strict: the first", "/choice", of("Accept-Language", "fr"))
  because("media_type_offered", "yes one of available_media_types goes with text/*",
    "/choice", of("Accept", "text/*"))
  because("media_type_offered", "yes none of available_media_types goes with a/b; "
    .. "not strict: the first", "/choice", of("Accept", "a/b"))
  because("charset_offered", "yes one of available_charsets goes with utf-16",
    "/choice", of("Accept-Charset", "utf-16"))
  because("charset_offered", "yes none of available_charsets goes with x; "
    .. "not strict: the first", "/choice", of("Accept-Charset", "x"))
  because("coding_offered", "yes the content as it is, or a coding, goes with gzip",
    "/choice", of("Accept-Encoding", "gzip"))
  because("coding_offered", "yes neither a coding nor the content as it is goes with "
    .. "identity;q=0; not strict: the first", "/choice",
    of("Accept-Encoding", "identity;q=0"))
  because("language_offered", "yes one of available_languages goes with de", "/strict",
    of("Accept-Language", "de"))
  because("language_offered", "no none of available_languages goes with fr", "/strict",
    of("Accept-Language", "fr"))

  -- What the function has given is not known.
  because("charset_offered", "yes one of available_charsets goes with x, or else it is "
    .. "the first", "/strict", of("Accept-Charset", "x"))
  because("patch_type_taken", "yes no patch_media_types: it may be any", "PATCH",
    "/keys", "-d", "x", "-H", "Content-Type: a/b", "-H", "Authorization: Basic bWU6")
end)

describe("a failure", function()
  it("of a property is told with the property, and where the walk ends", function()
    local FAILURE = "expires at spec/apps/explained.lua:75 failed: wants a date: "
      .. "a number of seconds since 1970"
    local all, log = explained "/stale"
    assert.matches("expires wants a date", log)
    assert.same({ row = "range_wanted", status = 500, failure = FAILURE },
      all.walk.ending)
    assert.equal("luaweb's explanation", type_source(all))
    local page = process.run("explain", APP, "/stale").output
    local ends = ("\n  ends at range_wanted with 500: %s\n"):format(FAILURE)
    assert.is_truthy(page:find(ends, 1, true), page)
  end)

  it("of a property that a row wants is told at that row only", function()
    local all = explained("/no-tag", "-H", 'If-Match: "a"')
    assert.matches("^500 entity_tag at spec/apps/explained%.lua:57 failed: its ",
      row_of(all, "if_match_holds"))
    assert.same({ row = "if_match_holds", status = 500 }, all.walk.ending)
  end)

  it("of what speaks at the end is told there", function()
    local all = explained "/silent"
    assert.same({ row = "may_create", status = 500, failure = "handle_not_found at "
      .. "spec/apps/explained.lua:62 failed: spec/apps/explained.lua:62: boom" },
      all.walk.ending)
    assert.matches("^no web.memo", row_of(all, "exists"))
  end)

  it("of what makes the representation for a media type is that of its key", function()
    local all = explained("/keys", "-H", "Authorization: Basic bWU6")
    assert.matches("^500 handle_ok at spec/apps/explained%.lua:64 failed: .*:71: bang$",
      row_of(all, "has_reply"))
    assert.equal("luaweb's explanation", type_source(all))
  end)

  it("is an end of its own where the program has another", function()
    local drawn = process.run("explain", APP, "/stale", "--dot").output
    assert.matches('label="500 instead of 200\\nrange_wanted", penwidth=3', drawn)
    drawn = process.run("explain", APP, "/constant", "--dot").output
    assert.is_nil(drawn:find("instead of", 1, true))
  end)
end)

describe("of two schemes", function()
  local FILE = "at spec/apps/explained.lua:"

  local function because(reason, credentials)
    local words = { "/keys" }
    if credentials then words = { "/keys", "-H", "Authorization: " .. credentials } end
    it(("it is told who has answered: %s"):format(reason), function()
      assert.equal(reason, row_of(explained(unpack(words)), "authorized"))
    end)
  end

  because(("yes web.basic %s66 answered true"):format(FILE), "Basic bWU6")
  because(("no web.basic %s66 answered false"):format(FILE), "basic eW91Og==")
  because(("no no credentials for web.basic %s66, web.bearer %s67, web.bearer %s68")
    :format(FILE, FILE, FILE))
  because(("500 authorized, by web.basic %s66, web.bearer %s67, web.bearer %s68 "
    .. "failed: spec/apps/explained.lua:67: boom"):format(FILE, FILE, FILE), "Bearer x")
end)

describe("the rows of components", function()
  it("are counted apart from those of the table", function()
    local all = explained "/keys"
    assert.same({ { name = "cors", rows = 4 }, { name = "patch", rows = 2 } },
      all.passes.components)
    assert.equal(55, all.passes.rows)
    local function first(path)
      return process.run("explain", APP, path).output:match "\n  (%d+ rows.-):"
    end
    assert.equal("49 rows, 4 of cors and 2 of patch", first "/keys")
    assert.equal("49 rows and 4 of cors", first "/page")
    assert.equal("49 rows", first "/constant")
  end)
end)
