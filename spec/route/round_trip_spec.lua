-- SPDX-License-Identifier: MIT
-- Templates forth and back: what web.url wrote (lua/luaweb/url.lua), matching reads
-- (core/route).  Values are made up, the same ones each time.
local templates = require "spec.route.templates"
local web = require "luaweb"

local CHARACTERS = { "a", "b", "7", "-", "_", "~", ".", " ", "/", "?", "#", "%", "+",
  "&", "=", ";", ",", ":", "@", "\"", "é", "€", "\240\159\152\128", "%2F", "\0" }

local state = 4711

-- The same on every machine, unlike math.random.
local function random(limit)
  state = (state * 16807) % 2147483647
  return state % limit + 1
end

local function text(without)
  local list = {}
  for i = 1, random(6) do
    local character
    repeat
      character = CHARACTERS[random(#CHARACTERS)]
    until not character:find(without or "^$")
    list[i] = character
  end
  return table.concat(list)
end

local function texts(without)
  local list = {}
  for i = 1, random(4) + 1 do list[i] = text(without) end
  return list
end

local function map()
  local pairs_ = {}
  for _ = 1, random(3) do pairs_["k" .. text()] = text() end
  return pairs_
end

local no_dots = function() return text "^%.$" end

local CASES = {
  ["/{x}"]                   = { x = text },
  ["/a/{x}/b"]               = { x = text },
  ["/{x}/{y}{/z}"]           = { x = text, y = text, z = text },
  ["/{x,y,z}"]               = { x = text, y = text, z = text },
  ["/l/{x}/{y}"]               = { x = texts, y = texts },
  ["/{x*}"]                  = { x = texts },
  ["/a{/x*}"]                = { x = texts },
  ["/a{/x*}/end"]            = { x = texts },
  ["/a{/x,y*}"]              = { x = text, y = texts },
  ["/a{/x,y}"]               = { x = texts, y = text },
  ["/{x}{.y}"]               = { x = text, y = no_dots },
  ["/a{.x*}"]                = { x = function() return texts "^%.$" end },
  ["/a{;x,y}"]               = { x = text, y = text },
  ["/a{;x*}"]                = { x = map },
  ["/a{;x,y*}/b"]            = { x = text, y = map },
  ["/a{?x,y*}"]              = { x = text, y = texts },
  ["/a/{x}{?y*}"]            = { x = text, y = map },
  ["/a{?x}{&y}"]             = { x = texts, y = text },
  ["/a?f=1{&x}"]             = { x = text },
  ["/f/{+x}"]                = { x = function() return text "[%%,]" end },
  ["/f/{+x}/{y}"]            = { x = function() return text "[%%,]" end, y = text },
  ["/{x:8}"]                 = { x = function() return "abcé" end },
  ["/caf%C3%A9/{x}/é"]       = { x = text },
}

describe("web.url and matching", function()
  for template, made in pairs(CASES) do
    it("agree on " .. template, function()
      for _ = 1, 200 do
        local vars = {}
        for name, make in pairs(made) do vars[name] = make() end
        local url = web.url(template, vars)
        assert.same({ url, vars }, { url, (templates.match(template, url)) })
      end
    end)
  end
end)
