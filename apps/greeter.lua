-- SPDX-License-Identifier: MIT
-- A greeting that only some may have: machines that are made of others, users with
-- passwords, pages of another origin, and an entity tag.
--
--   curl -i -u superUser:superPassword http://127.0.0.1:8080/hello/fred
local web = require "luaweb"

-- What web.password_hash has made of "test" and of "superPassword": a password itself
-- is written down nowhere.
local accounts = {
  marcus = "$argon2id$v=19$m=65536,t=2,p=1"
    .. "$GD6Pjb7EAZGUGO2ZjG2KwQ$jYj32TK2SLSrlMn6NXdwkG8wvd6cFB37D/e88ntjyoc",
  superUser = "$argon2id$v=19$m=65536,t=2,p=1"
    .. "$M0568Tw79ZdzVrxpnDm1iQ$tZWiPW6Ki8SiWteDL4YOOGpBHarj325XyUxt5WcPwHU",
}

-- Argon2id is slow on purpose, and Basic sends the password with each request: who was
-- let in is known for a minute.  Without a hash, web.password_verify takes as long and
-- says no, so that the time tells nobody which accounts there are.
local login = web.auth {
  web.basic {
    realm = "demoRealm",
    cache = 60,
    verify = function(user, password)
      return user == "anonymous" or web.password_verify(password, accounts[user])
    end,
  },
}

-- What both resources have in common.  A preflight, by which a browser asks what a page
-- of another origin may do, has no password: it is answered before anybody logs in.
local core = web.machine {
  login,
  web.cors {
    origins = { "http://example.com" },
    methods = { "GET", "HEAD", "OPTIONS" },
    headers = { "Server" },
    max_age = 86400,
  },
}

-- Computed once for each request, however many functions ask for it.
local name = web.memo(function(req)
  return req.params.name or req.user
end)

local hello = web.machine {
  core,
  allowed = function(req) return req.user == "superUser" end,
  handle_forbidden = "Superuser privileges required",
  entity_tag = function(req) return web.weak_etag(name(req)) end,
  handle_ok = function(req) return "Hello, " .. name(req) .. "!" end,
}

-- Nobody is authorized here, and a browser forgets the password that was refused.
local logout = web.machine { core, authorized = false }

return web.app {
  web.resource("/hello{/name}", hello),
  web.resource("/logout", logout),
}
