-- SPDX-License-Identifier: MIT
-- What an app says that can't be meant (lua/luaweb/machine/contradictions.lua): an
-- error while it loads, which names the place, the template and the key.
local test = require "luaweb.test"
local web = require "luaweb"

local function nothing() end

--- A machine with a key set as well.
local function with(spec, key, value)
  local copy = { [key] = value }
  for name, one in pairs(spec) do copy[name] = one end
  return copy
end

--- The error of an app, without its place in this file.
local function fault_of(app)
  local ok, message = pcall(function() test.app(web.app(app())) end)
  assert.is_false(ok)
  local place, rest = message:match "^([^:]*:%d+): (.*)$"
  assert.matches("load_errors_spec%.lua:%d+$", place)
  return rest
end

local function fault(machine)
  return fault_of(function() return { web.resource("/x", web.machine(machine)) } end)
end

local function loads(machine)
  assert.is_truthy(test.app(web.app { web.resource("/x", web.machine(machine)) }))
end

describe("a machine's fault", function()
  it("is named with the place of the key, the template and the key", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local wrong = web.machine { entity_tag = "v1" }
    local ok, message = pcall(web.resource, "/todo/{id}", wrong)
    assert.is_false(ok)
    assert.matches("load_errors_spec%.lua:" .. line .. ": /todo/{id}: entity_tag: "
      .. "wants an entity tag", message)
  end)

  it("of an included machine is named with its own place", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local wrong = web.machine { colour = "blue" }
    local ok, message = pcall(web.resource, "/", web.machine { wrong, handle_ok = "x" })
    assert.is_false(ok)
    assert.matches("load_errors_spec%.lua:" .. line .. ": /: colour: no machine has",
      message)
  end)

  it("of the short forms is named with the template too", function()
    assert.equal("/a: handle_ok: wants a function of the request, or a constant: a "
      .. "text, a response, or a table as JSON", fault_of(function()
        return { web.get("/a", 5) }
      end))
  end)

  it("is found in what the app includes, and in not_found", function()
    assert.matches("^includes: colour: no machine has this key", fault_of(function()
      return { includes = { web.machine { colour = 1 } } }
    end))
    assert.matches("^not_found: colour: no machine has this key", fault_of(function()
      return { not_found = web.machine { colour = 1 } }
    end))
  end)

  it("is a wrong option of web.cors", function()
    local function message(policy) return select(2, pcall(web.cors, policy)) end
    assert.matches("load_errors_spec.*: web.cors: origin: there is no such option "
      .. "%(did you mean origins%?%)$", message { origin = "*" })
    assert.matches("web.cors wants a table$", message(nil))
    assert.matches("^/x: cors_origins: wants a list of origins",
      fault { web.cors { origins = { "example.com" } }, handle_ok = "x" })
  end)
end)

describe("a 401", function()
  local why = "a 401 says how to log in: include web.auth, or set challenge"
  local page = { handle_ok = "x" }

  for _, value in ipairs { false, 401, nothing, web.status(401) } do
    it(("without a challenge is refused: authorized = %s"):format(value), function()
      assert.equal("/x: authorized: " .. why, fault(with(page, "authorized", value)))
    end)
  end

  it("of another decision wants a challenge as well", function()
    assert.equal("/x: allowed: " .. why, fault { handle_ok = "x", allowed = 401 })
  end)

  it("that can't be, or that has a challenge, is none", function()
    loads { handle_ok = "x", authorized = true }
    loads { handle_ok = "x", authorized = 404 }
    loads { handle_ok = "x", expires = 401 }
    loads { handle_ok = "x", authorized = nothing, challenge = { "Negotiate" } }
    loads { handle_ok = "x", authorized = nothing, challenge = nothing }
  end)
end)

describe("a redirect", function()
  local why = "a redirect says where to: set location"
  local page = { handle_ok = "x", do_post = nothing }

  for key, values in pairs {
    stays_for_good = { false, 301, nothing }, stays_for_now = { false, 303, nothing },
    see_other = { true, nothing }, exists = { 307 },
  } do
    for _, value in ipairs(values) do
      it(("without a location is refused: %s = %s"):format(key, tostring(value)),
        function()
          assert.equal(("/x: %s: %s"):format(key, why), fault(with(page, key, value)))
          loads(with(with(page, key, value), "location", "/y"))
        end)
    end
  end

  it("that can't be is none, and a response has its own", function()
    loads { do_post = nothing, stays_for_good = true, see_other = false }
    loads { handle_ok = "x", stays_for_now = 404, expires = 301 }
    loads { handle_ok = "x", stays_for_good = web.redirect("/y"):status(308) }
  end)
end)

describe("304", function()
  it("is an answer to GET and HEAD", function()
    loads { handle_ok = "x", within_rate = 304 }
    assert.equal("/x: within_rate: 304 answers GET and HEAD, not PUT",
      fault { handle_ok = "x", do_put = nothing, within_rate = 304 })
  end)
end)

describe("CORS", function()
  for _, option in ipairs { "origins", "expose" } do
    it("with credentials has no * for " .. option, function()
      local policy = with({ credentials = true }, option, "*")
      assert.equal(("/x: cors_%s: \"*\" does not go with cors_credentials: list them")
        :format(option), fault { web.cors(policy), handle_ok = "x" })
      policy.credentials = false
      loads { web.cors(policy), handle_ok = "x" }
    end)
  end
end)

describe("a handler", function()
  it("of a status that no method can end with is refused", function()
    for key, machine in pairs {
      handle_created = { handle_ok = nothing, do_delete = nothing },
      handle_accepted = { handle_ok = nothing },
      handle_not_modified = { do_put = nothing },
      handle_range_not_satisfiable = { handle_ok = nothing },
      handle_conflict = { handle_ok = "x" },
      handle_gone = { handle_ok = "x", exists = false },
    } do
      local status = require("luaweb.machine.keys").find(key).number
      assert.equal(("/x: %s: none of its methods can end with %d: nothing can reach it")
        :format(key, status), fault(with(machine, key, "text")))
    end
  end)

  it("of a status that some method can end with is taken", function()
    for key, machine in pairs {
      handle_created = { do_post = nothing },
      handle_accepted = { do_delete = nothing },
      handle_not_modified = { handle_ok = "x" },
      handle_range_not_satisfiable = { handle_ok = nothing, accept_ranges = true },
      handle_conflict = { handle_ok = nothing },
      handle_gone = { handle_ok = "x", exists = false, never_was = nothing },
      handle_forbidden = { handle_ok = "x", legally_available = 403 },
      handle_internal_server_error = { handle_ok = "x" },
      handle_method_not_allowed = { handle_ok = "x" },
      handle_not_implemented = { handle_ok = "x" },
      handle_options = { do_put = nothing },
    } do
      loads(with(machine, key, "text"))
    end
  end)

  it("may be included where it is of no use: others may have one", function()
    local core = web.machine { handle_created = "made", handle_conflict = "no" }
    loads { core, handle_ok = "x" }
    assert.is_truthy(test.app(web.app { includes = { core }, web.get("/", nothing) }))
  end)

  it("of what serves a resource is refused in not_found", function()
    assert.equal("not_found: handle_ok: there is nothing to serve: nothing can reach "
      .. "it", fault_of(function()
        return { not_found = web.machine { handle_ok = "x" } }
      end))
    assert.equal("unmatched paths: handle_created: none of its methods can end with "
      .. "201: nothing can reach it", fault_of(function()
        return { not_found = web.machine { handle_created = "x" } }
      end))
  end)
end)

describe("a property of content", function()
  local LIMIT = { body_limit = 5 }
  local WHY = "none of its methods has content: nothing can reach it"

  for key, value in pairs { acceptable_media_types = { "a/b" }, length_required = true,
    acceptable_content_codings = { "gzip" }, body_limit = 5, partial_put = true } do
    it(key .. " is refused where no method has content", function()
      local page = with({ handle_ok = "x" }, key, value)
      assert.equal(("/x: %s: %s"):format(key, WHY), fault(page))
      loads { web.machine { [key] = value }, handle_ok = "x" }
      loads(with({ do_put = nothing, service_available = false }, key, value))
      loads(with({ do_any = nothing }, key, value))
    end)
  end

  it("is refused in not_found, where nothing is read", function()
    assert.equal("unmatched paths: body_limit: " .. WHY, fault_of(function()
      return { not_found = web.machine(LIMIT) }
    end))
  end)

  it("is refused where other methods have such content", function()
    assert.equal("/x: partial_put: PUT is not among its methods: nothing can reach it",
      fault { do_post = nothing, partial_put = true })
    assert.equal("/x: acceptable_media_types: only PATCH has content, and takes "
      .. "patch_media_types: nothing can reach it",
      fault { do_patch = nothing, acceptable_media_types = { "a/b" } })
  end)

  it("may limit what a GET's or a DELETE's function reads", function()
    loads(with(LIMIT, "handle_ok", nothing))
    loads(with(LIMIT, "do_delete", nothing))
  end)
end)

describe("a location", function()
  it("is refused where no answer has one", function()
    assert.equal("/x: location: none of its methods can end with a status that has "
      .. "one: nothing can reach it", fault { handle_ok = "x", location = "/y" })
    loads { web.machine { location = "/y" }, handle_ok = "x" }
  end)

  it("is taken where an answer may have one", function()
    loads { handle_ok = nothing, location = "/y" }
    loads { handle_ok = "x", single_choice = false, location = "/y" }
    loads { do_post = nothing, well_formed = false, location = "/y" }
  end)
end)

describe("available_media_types", function()
  local page = { handle_ok = { ["text/html"] = "<p>", ["text/plain"] = "x" } }

  it("may order what handle_ok has", function()
    loads(with(page, "available_media_types", { "text/plain", "text/html" }))
  end)

  for why, types in pairs {
    ["text/csv is not in handle_ok"] = { "text/html", "text/plain", "text/csv" },
    ["handle_ok has more of them"] = { "text/html" },
    ["handle_ok says which there are"] = nothing,
  } do
    it("must not contradict handle_ok: " .. why, function()
      assert.equal("/x: available_media_types: " .. why,
        fault(with(page, "available_media_types", types)))
    end)
  end
end)

describe("a component", function()
  local query = web.component { name = "load_errors", in_front_of = "exists",
    { "load_errors_row", "___", 404, "app", nil, "here", acts = true },
  }

  it("has to be included where its keys are", function()
    assert.equal("/x: load_errors_row: is of the component load_errors, which it does "
      .. "not include", fault { handle_ok = "x", load_errors_row = true })
    loads { query, handle_ok = "x", load_errors_row = nothing }
  end)

  it("may want an answer", function()
    assert.equal("/x: load_errors_row: the component load_errors has no default for it",
      fault { query, handle_ok = "x" })
  end)

  it("has to fit into the graph", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local lost = web.component { name = "lost", in_front_of = "nowhere",
      { "load_errors_lost", "___", 404, "app", true, "here" },
    }
    assert.equal(("/x: components: component lost at spec/load_errors_spec.lua:%d: "
      .. "there is no row nowhere to go in front of"):format(line),
      fault { lost, handle_ok = "x" })
  end)

  it("patch is there with PATCH only", function()
    assert.equal("/x: patch_media_types: PATCH is not among its methods: nothing can "
      .. "reach it", fault { handle_ok = "x", patch_media_types = { "a/b" } })
    loads { do_any = nothing, patch_media_types = { "a/b" } }
    loads { do_patch = nothing, patch_type_taken = nothing }
  end)
end)
