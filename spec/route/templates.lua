-- SPDX-License-Identifier: MIT
-- Templates, tries and routers of the C core for specs, and what they capture as Lua
-- values: a string, a list, or a table of pairs.
local ffi = require "ffi"
local pure = require "spec.support.pure"

for _, name in ipairs { "route/path", "route/template", "route/trie", "route/span",
  "route/match", "route/capture", "route/router", "http/percent" } do
  pure.load(name)
end
local C = pure.load "base/abi"

local M = { C = C }

-- What C borrows stays.
local texts = {}

---@param text string
---@return ffi.cdata*   struct luaweb_slice
function M.slice(text)
  texts[#texts + 1] = text
  return ffi.new("struct luaweb_slice", text, #text)
end

--- The normal form of a path, or nil.
---@param text string
---@return string?
function M.normalise(text)
  local out, size = ffi.new("char[?]", #text + 1), ffi.new "size_t[1]"
  out[#text] = 42
  if not C.lw_path_normalise(M.slice(text), out, size) then return nil end
  assert(out[#text] == 42 and size[0] <= #text)
  return ffi.string(out, size[0])
end

--- A template, or nil and why it is none.
---@param text string
function M.template(text)
  local why = ffi.new "const char *[1]"
  local template = C.lw_template_new(M.slice(text), why)
  if template == nil then return nil, ffi.string(why[0]) end
  return ffi.gc(template, C.lw_template_free)
end

--- A trie of one template, all of its parts: reads path and query.
---@param text string
function M.trie(text)
  local template = assert(M.template(text))
  local entry = ffi.new("struct lw_entry", template, template.part_count, 0, 7)
  local trie = ffi.new "struct lw_trie"
  C.lw_trie_construct(trie, entry, 1)
  texts[trie] = template
  return ffi.gc(trie, C.lw_trie_destruct)
end

local function decode(capture, raw)
  local out, size = ffi.new("char[?]", tonumber(raw.size) + 1), ffi.new "size_t[1]"
  if capture.is_query then
    size[0] = C.lw_percent_decode_form(raw, out)
  else
    assert(C.lw_percent_decode(raw, out, size))
  end
  return ffi.string(out, size[0])
end

local keep = {
  [C.LUAWEB_PARAM_TEXT] = function(vars, name, value)
    assert(vars[name] == nil)
    vars[name] = value
  end,
  [C.LUAWEB_PARAM_ITEM] = function(vars, name, value)
    vars[name] = vars[name] or {}
    table.insert(vars[name], value)
  end,
  [C.LUAWEB_PARAM_PAIR] = function(vars, name, value, key)
    vars[name] = vars[name] or {}
    vars[name][key] = value
  end,
}

--- What a match captured: names to values.
---@param match ffi.cdata*   struct lw_match
---@return table<string, string|table>
function M.vars(match)
  local captures, capture = ffi.new "struct lw_captures", ffi.new "struct lw_capture"
  local vars, last = {}, nil
  C.lw_captures_start(captures, match)
  while C.lw_captures_next(captures, capture) do
    local name = pure.string(match.entry.template.variables[capture.variable].name)
    assert(vars[name] == nil or name == last, "the values of a variable are together")
    last = name
    local key = capture.kind == C.LUAWEB_PARAM_PAIR and decode(capture, capture.key)
    keep[capture.kind](vars, name, decode(capture, capture.value), key)
  end
  return vars
end

--- Matches a text as it comes, with one template.
---@param template string
---@param text string
---@return table? vars    nil: no match
---@return integer steps  that it took
function M.match(template, text)
  local trie, match = M.trie(template), ffi.new "struct lw_match"
  local normal = M.normalise(text)
  if not normal then return nil, 0 end
  local found = C.lw_trie_match(trie, M.slice(normal), match)
  assert(found == (match.route == 7))
  return found and M.vars(match) or nil, match.steps
end

---@class spec.Router
---@field router ffi.cdata*
---@field templates string[]   by number, from 0
local Router = {}
Router.__index = Router

---@return spec.Router
function M.router()
  local router = ffi.new "struct lw_router"
  C.lw_router_construct(router)
  return setmetatable({ router = ffi.gc(router, C.lw_router_destruct), templates = {} },
    Router)
end

--- Adds a template.
---@return integer? number    nil: refused
---@return string? why
---@return string? other      the template that it is at odds with
function Router:add(template)
  local refusal = ffi.new "struct lw_refusal"
  local number = C.lw_router_add(self.router, M.slice(template), refusal)
  if number < 0 then
    return nil, ffi.string(refusal.why), self.templates[refusal.other]
  end
  self.templates[number] = self.templates[number] or template
  return number
end

--- Makes ready.
---@return boolean ok
---@return string? hidden   the template that can't be reached
---@return string? winner   since this one has its paths
function Router:build()
  local hidden, winner = ffi.new "int32_t[1]", ffi.new "int32_t[1]"
  if C.lw_router_build(self.router, hidden, winner) then return true end
  return false, self.templates[hidden[0]], self.templates[winner[0]]
end

--- Finds the template of a path, with the query if there is one.
---@return string? template
---@return table? vars
---@return integer steps
function Router:find(path, query)
  local match, normal = ffi.new "struct lw_match", M.normalise(path)
  if not normal then return nil, nil, 0 end
  if not C.lw_router_match(self.router, M.slice(normal), match) then
    return nil, nil, match.steps
  end
  if query then match.query = M.slice(M.normalise(query) or query) end
  return self.templates[match.route], M.vars(match), match.steps
end

--- A router that is ready.
---@param templates string[]
function M.router_of(templates)
  local router = M.router()
  for _, template in ipairs(templates) do assert(router:add(template)) end
  assert(router:build())
  return router
end

return M
