-- SPDX-License-Identifier: MIT
-- The greeting of minimal.lua behind all that a machine can ask of a request before:
-- what it costs beyond that one, for the same octets, is the price of the questions.
-- A request that passes has these fields, and may have If-None-Match:
--
--   Authorization: Basic YmVuY2g6c2VjcmV0          (bench:secret)
--   Origin: http://example.com
--   Accept, Accept-Language, Accept-Charset, Accept-Encoding
local web = require "luaweb"

local name = web.memo(function(req) return req.params.name or "World" end)

local hello = web.machine {
  web.auth {
    web.basic {
      realm = "bench",
      verify = function(user, password)
        return user == "bench" and web.secret_equal(password, "secret")
      end,
    },
  },
  web.cors { origins = { "http://example.org", "http://example.com" } },
  available_media_types = { "text/plain", "text/markdown" },
  available_languages = { "en", "en-GB" },
  available_charsets = { "utf-8" },
  available_content_codings = { "identity" },
  strict = { "media_type", "language", "charset", "content_coding" },
  entity_tag = function(req) return web.weak_etag(name(req)) end,
  handle_ok = function(req) return "Hello, " .. name(req) .. "!" end,
}

return web.app { web.resource("/hello{/name}", hello) }
