-- SPDX-License-Identifier: MIT
-- The fields that the decision graph puts on a response, told on the reference walk:
-- what each terminal needs, what the rows that were passed add, and what an error must
-- not have.  Each line has all of them.  RFC 9110 §8, §12.5.5, §15; Fetch.
local http = require "spec.support.reference_http"
local reference = require "spec.support.reference_walk"
local response = require "luaweb.response"

local DATE = "Sun, 06 Nov 1994 08:49:37 GMT"

local function nothing() end

--- A machine of one representation, with all that a 200 may have; `keys` are added.
local function machine(keys)
  local all = { handle_ok = "hello", do_post = nothing, do_put = nothing,
                do_delete = nothing, entity_tag = '"v1"', last_modified = 784111777.9,
                cache_control = "max-age=60", expires = 784111777 }
  for key, value in pairs(keys or {}) do all[key] = value end
  return all
end

local function walk(keys, text, context)
  return reference.machine_walk(machine(keys), http.request(text), context)
end

local function play(lines)
  for _, line in ipairs(lines) do
    local title, text, keys, status, fields = unpack(line)
    it(title, function()
      local walked = walk(keys, text)
      assert.equal(status, walked.status)
      assert.same(fields, walked.fields)
    end)
  end
end

local CACHING = { etag = '"v1"', ["cache-control"] = "max-age=60", expires = DATE }

-- The fields of a read, with others.
local function cached(others)
  local fields = {}
  for name, value in pairs(CACHING) do fields[name] = value end
  for name, value in pairs(others or {}) do fields[name] = value end
  return fields
end

local WHOLE = cached { ["last-modified"] = DATE,
                       ["content-type"] = "text/plain; charset=utf-8" }
local RANGES = { accept_ranges = true }

describe("a representation", function()
  play {
    { "has validators and a type", "GET", {}, 200, WHOLE },
    { "of HEAD has the same", "HEAD", {}, 200, WHOLE },
    { "that did not change has no Last-Modified beside a tag",
      'GET\nIf-None-Match: "v1"', {}, 304, CACHING },
    { "that did not change has Last-Modified without a tag",
      "GET\nIf-Modified-Since: " .. DATE,
      { entity_tag = nothing, expires = nothing }, 304,
      { ["cache-control"] = "max-age=60", ["last-modified"] = DATE } },
    { "says that it has ranges", "GET", RANGES, 200,
      cached { ["last-modified"] = DATE, ["accept-ranges"] = "bytes",
               ["content-type"] = "text/plain; charset=utf-8" } },
    { "in part", "GET\nRange: bytes=1-2", RANGES, 206,
      cached { ["last-modified"] = DATE, ["content-range"] = "bytes 1-2/5",
               ["content-type"] = "text/plain; charset=utf-8" } },
    { "in part, for someone who has the rest", 'GET\nRange: bytes=1-2\nIf-Range: "v1"',
      RANGES, 206, cached { ["content-range"] = "bytes 1-2/5" } },
    { "in parts", "GET\nRange: bytes=0-0,4-4", RANGES, 206,
      cached { ["last-modified"] = DATE, ["content-type"] = "multipart/byteranges" } },
    { "without such a part", "GET\nRange: bytes=9-", RANGES, 416,
      { ["content-range"] = "bytes */5" } },
    { "without such a part, though it is another one now",
      'GET\nRange: bytes=9-\nIf-Range: "v0"', RANGES, 200,
      cached { ["last-modified"] = DATE, ["accept-ranges"] = "bytes",
               ["content-type"] = "text/plain; charset=utf-8" } },
  }
end)

describe("negotiation", function()
  local OFFERS = { available_media_types = { "text/html", "application/json" },
                   available_languages = { "en", "de" }, vary = { "Cookie" } }
  play {
    { "says what was chosen, and by which fields",
      "GET\nAccept: application/json\nAccept-Language: de", OFFERS, 200,
      cached { ["content-type"] = "application/json", ["content-language"] = "de",
               ["last-modified"] = DATE, vary = "Accept, Accept-Language, Cookie" } },
    { "says it on 304 too", "GET\nIf-None-Match: *", OFFERS, 304,
      cached { vary = "Accept, Accept-Language, Cookie" } },
    { "refuses with the fields that were passed", "GET\nAccept: image/png", OFFERS, 406,
      { vary = "Accept, Cookie" } },
    { "takes the first offer where it is not strict", "GET\nAccept-Language: fr",
      OFFERS, 200,
      cached { ["content-type"] = "text/html", ["content-language"] = "en",
               ["last-modified"] = DATE, vary = "Accept, Accept-Language, Cookie" } },
    { "of one offer varies with nothing", "GET",
      { available_media_types = { "text/html" } }, 200,
      cached { ["content-type"] = "text/html", ["last-modified"] = DATE } },
    { "of codings has identity as an offer", "GET\nAccept-Encoding: gzip",
      { available_content_codings = { "gzip" } }, 200,
      cached { ["content-type"] = "text/plain; charset=utf-8", vary = "Accept-Encoding",
               ["last-modified"] = DATE, ["content-encoding"] = "gzip" } },
  }

  it("is strict where the machine says so", function()
    local keys = { available_media_types = { "a/b" }, available_languages = { "en" },
                   available_charsets = { "utf-8" },
                   available_content_codings = { "gzip" } }
    local REFUSALS = {
      media_type = "Accept: c/d", language = "Accept-Language: fr",
      charset = "Accept-Charset: x", content_coding = "Accept-Encoding: *;q=0",
    }
    for dimension, line in pairs(REFUSALS) do
      keys.strict = { dimension }
      assert.equal(406, walk(keys, "GET\n" .. line).status)
      keys.strict = {}
      assert.equal(200, walk(keys, "GET\n" .. line).status)
    end
  end)
end)

describe("an error", function()
  play {
    { "has nothing of the representation", "GET", { allowed = false }, 403, {} },
    { "401 has all challenges", "GET",
      { authorized = false, challenge = { 'Basic realm="a"', "Bearer" } }, 401,
      { ["www-authenticate"] = 'Basic realm="a", Bearer' } },
    { "401 without a challenge is the app's fault", "GET", { authorized = false }, 500,
      {} },
    { "405 has the methods", "PATCH", {}, 405,
      { allow = "GET, HEAD, DELETE, POST, PUT, OPTIONS" } },
    { "429 says when to come again", "GET", { within_rate = false, retry_after = 7 },
      429, { ["retry-after"] = "7" } },
    { "503 says when to come again", "GET",
      { service_available = false, retry_after = DATE }, 503,
      { ["retry-after"] = DATE } },
    { "412 needs nothing", 'PUT\nIf-Match: "v2"', {}, 412, {} },
    { "415 of a type has Accept", "PUT\nContent-Length: 1\nContent-Type: a/b",
      { acceptable_media_types = { "c/d", "e/f" } }, 415, { accept = "c/d, e/f" } },
    { "415 of a type has Accept-Post for POST",
      "POST\nContent-Length: 1\nContent-Type: a/b",
      { acceptable_media_types = { "c/d" } }, 415,
      { accept = "c/d", ["accept-post"] = "c/d" } },
    { "415 of a coding has Accept-Encoding and no Accept",
      "PUT\nContent-Length: 1\nContent-Encoding: br\nContent-Type: a/b",
      { acceptable_content_codings = { "gzip" }, acceptable_media_types = { "c/d" } },
      415, { ["accept-encoding"] = "gzip" } },
    { "415 of a patch has Accept-Patch",
      "PATCH\nContent-Length: 1\nContent-Type: a/b",
      { do_patch = nothing, patch_media_types = { "c/d" } }, 415,
      { ["accept-patch"] = "c/d" } },
    { "404 in place of 403 hides that it is there", "GET", { allowed = 404 }, 404, {} },
  }
end)

describe("a write", function()
  play {
    { "says nothing of the state before it", "PUT", { handle_ok = nothing }, 204, {} },
    { "that shows the new state says whose it is", "PUT", {}, 200,
      { ["content-type"] = "text/plain; charset=utf-8",
        ["content-location"] = "/thing" } },
    { "that has a reply of its own says no more", "POST",
      { do_post = function() return "done" end }, 200,
      { ["content-type"] = "text/plain; charset=utf-8" } },
    { "may give the tag of what it stored", "PUT", { do_put = function()
      return response.text("stored"):header("ETag", '"v2"')
    end }, 200, { ["content-type"] = "text/plain; charset=utf-8", etag = '"v2"' } },
    { "that created says where", "POST", { created = true, location = "/1" }, 201,
      { location = "/1" } },
    { "that is sent elsewhere says where", "POST",
      { see_other = true, location = "/1" }, 303, { location = "/1" } },
    { "that is sent elsewhere without saying where is the app's fault", "POST",
      { see_other = true }, 500, {} },
    { "that is not yet done says where to look", "DELETE",
      { completed = false, location = "/jobs/1" }, 202, { location = "/jobs/1" } },
  }
end)

describe("an early end", function()
  local CORS = { cors_origins = { "http://a" } }
  play {
    { "keeps the app's own fields", "GET", { exists = function()
      return response.redirect "/there"
    end }, 303, { location = "/there" } },
    { "keeps the fields of the rows that were passed", "GET\nOrigin: http://a",
      { cors_origins = CORS.cors_origins, well_formed = 400 }, 400,
      { vary = "Origin", ["access-control-allow-origin"] = "http://a" } },
    { "by an error that is a response", "GET", { handle_ok = function()
      error(response.status(410))
    end }, 410, {} },
    { "by a number that only C may give is the app's fault", "GET",
      { handle_ok = function() return 206 end }, 500, {} },
    { "by 304 of a write is the app's fault", "PUT", { allowed = 304 }, 500, {} },
    { "by a redirect without a place is the app's fault", "GET",
      { stays_for_now = 302 }, 500, {} },
    { "by a decision that answers with a string is the app's fault", "GET",
      { allowed = function() return "yes" end }, 500, {} },
  }
end)
