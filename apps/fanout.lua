-- SPDX-License-Identifier: MIT
-- Asks three servers at once, answers with the first two that answer in time, and
-- leaves the third: its request is cancelled and its connection closed.
--
-- FANOUT_UPSTREAMS has their URLs, separated by spaces; without it the app asks itself,
-- on the port that luaweb listens on unless it is told otherwise.
--
--   curl -i http://127.0.0.1:8080/offers
local mailbox = require "luaweb.mailbox"
local scope = require "luaweb.scope"
local web = require "luaweb"

local OWN = "http://127.0.0.1:8080/shops/"
local UPSTREAMS = os.getenv "FANOUT_UPSTREAMS" or table.concat({ OWN .. "corner",
  OWN .. "market", OWN .. "far-away" }, " ")
local WANTED = 2
local SECONDS = 1

local urls = {}
for url in UPSTREAMS:gmatch "%S+" do urls[#urls + 1] = url end

-- Asks one server, and tells what came of it.
local function ask(url, answers)
  local res, message = web.fetch(url, { timeout = SECONDS })
  local offer, fault
  if res and res.ok then offer, fault = res:json() end
  answers:send { url = url, offer = offer, fault = fault or message }
end

-- The first good answers, and what was wrong with the others so far.  What has not been
-- answered is cancelled with the scope.
local function first(wanted)
  return scope.run(function(own)
    local answers, offers, faults = mailbox.new(), web.array {}, web.array {}
    for _, url in ipairs(urls) do own:spawn(ask, url, answers) end
    while #offers < wanted and #offers + #faults < #urls do
      local answer = answers:take()
      if answer.offer then
        table.insert(offers, answer.offer)
      else
        table.insert(faults, answer.fault or answer.url .. ": no offer")
      end
    end
    return { offers = offers, faults = faults }
  end)
end

-- The servers that are asked when there are no others: seconds they take, and prices.
local shops = {
  corner       = { seconds = 0.05, price = 12 },
  market       = { seconds = 0.1, price = 9 },
  ["far-away"] = { seconds = 5, price = 5 },
}

return web.app {
  web.get("/offers", function()
    local found = first(WANTED)
    if #found.offers < WANTED then return web.json(found):status(504) end
    return found
  end),

  web.resource("/shops/{name}", web.machine {
    exists = function(req) return shops[req.params.name] ~= nil end,
    handle_ok = function(req)
      local shop = shops[req.params.name]
      web.sleep(shop.seconds)
      return { shop = req.params.name, price = shop.price }
    end,
  }),
}
