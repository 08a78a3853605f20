-- SPDX-License-Identifier: MIT
-- Calls that are not there say what does it.
local new = {
  chan = require("luaweb.chan").new(),
  bounded = require("luaweb.bounded").new(1),
  mailbox = require("luaweb.mailbox").new(),
  lock = require("luaweb.lock").new(),
  semaphore = require("luaweb.semaphore").new(1),
  latch = require("luaweb.latch").new(1),
  ivar = require("luaweb.ivar").new(),
  mvar = require("luaweb.mvar").new(),
  promise = require("luaweb.promise").of(1),
  broadcast = require("luaweb.broadcast").new(),
}

-- What is not there, and a call that the message must name, which is there.
local CALLS = {
  { "chan", "put", "give" }, { "chan", "receive", "take" }, { "chan", "get", "take" },
  { "bounded", "send", "put" }, { "bounded", "give", "put" },
  { "bounded", "receive", "take" }, { "bounded", "get", "take" },
  { "mailbox", "put", "send" }, { "mailbox", "give", "send" },
  { "mailbox", "receive", "take" }, { "mailbox", "get", "take" },
  { "lock", "lock", "with" }, { "lock", "acquire", "acquire_alt" },
  { "semaphore", "acquire", "with" }, { "semaphore", "acquire", "acquire_alt" },
  { "latch", "count_down", "done" }, { "latch", "release", "done" },
  { "ivar", "put", "fill" }, { "ivar", "set", "fill" }, { "ivar", "take", "read" },
  { "mvar", "put", "fill" }, { "mvar", "get", "take" },
  { "promise", "take", "read" },
  { "broadcast", "send", "publish" }, { "broadcast", "take", "subscribe" },
}

describe("a call that is not there", function()
  for _, case in ipairs(CALLS) do
    local what, name, meant = unpack(case)
    it(("%s:%s says that there is %s"):format(what, name, meant), function()
      local object = new[what]
      local ok, message = pcall(function() object[name](object, 1) end)
      assert.is_false(ok)
      assert.matches(("instead_spec.lua:%%d+: %s:%s is not there: .*%s"):format(what,
        name, meant), message)
      assert.is_function(object[meant])
    end)
  end

  it("says where an end, or a way to free it, is", function()
    for what, name in pairs { chan = "close", mailbox = "close", lock = "release",
      semaphore = "release", promise = "resolve" } do
      local object = new[what]
      assert.error_matches(function() object[name](object) end,
        ("%s:%s is not there: "):format(what, name), 1, true)
    end
    assert.error_matches(function() new.lock:unlock() end, "token:release")
    assert.error_matches(function() new.promise:fill(1) end, "only its function does")
  end)
end)
