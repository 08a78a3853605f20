-- SPDX-License-Identifier: MIT
-- JSON patch: operations on a document, all of them or none. Also the choice between
-- the two kinds of patches. Owns nothing. Must never change what it is given, give a
-- part of it back, or know requests. RFC 6902.
--
-- To add "/list/-" appends where the list is an array to us: json.array {}, and not {}.
-- To remove "" is refused: no value would be left.
--
-- A patch is limited in its operations, in how deep its result may be nested, and in
-- what is copied: the document, values that are added, replaced or copied, and values
-- that move to a deeper place. Shifted elements of arrays count too, sixteen as one.
local json_copy = require "luaweb.json.copy"
local json_draft = require "luaweb.json.draft"
local json_merge = require "luaweb.json.merge"
local json_pointer = require "luaweb.json.pointer"

local find, insert, take = json_draft.find, json_draft.insert, json_draft.take
local copy_for = json_draft.copy_for
local quote = json_pointer.quote

local M = {}

local MOST_OPERATIONS = 1000

---@class luaweb.PatchLimits: luaweb.CopyLimits
---@field operations? integer   how many there may be, default 1,000

---@class luaweb.PatchOperation
---@field path string[]    steps
---@field from? string[]   steps
---@field value? any

-- Operations: true, or nil and why ----------------------------------------------------

local function add(draft, operation)
  local v, why = copy_for(draft, operation.path, operation.value)
  if v == nil then return nil, why end
  return insert(draft, operation.path, v)
end

local function remove(draft, operation)
  if #operation.path == 0 then return nil, "the whole document can't be removed" end
  local v, why = take(draft, operation.path)
  if v == nil then return nil, why end
  return true
end

local function replace(draft, operation)
  local container, key = find(draft, operation.path)
  if not container then return nil, key end
  local v, why = copy_for(draft, operation.path, operation.value)
  if v == nil then return nil, why end
  container[key] = v
  return true
end

local function begins_with(steps, others)
  for i, step in ipairs(others) do
    if steps[i] ~= step then return false end
  end
  return true
end

-- To a deeper place a copy goes, so that the nesting is looked at.
local function move(draft, operation)
  local from, path = operation.from, operation.path
  if begins_with(path, from) then
    local container, why = find(draft, from)
    if not container then return nil, why end
    if #path > #from then return nil, "a value can't be moved into itself" end
    return true
  end
  local v, why = take(draft, from)
  if v ~= nil and #path > #from then v, why = copy_for(draft, path, v) end
  if v == nil then return nil, why end
  return insert(draft, path, v)
end

local function copy(draft, operation)
  local container, key = find(draft, operation.from)
  if not container then return nil, key end
  return add(draft, { path = operation.path, value = container[key] })
end

local function test(draft, operation)
  local container, key = find(draft, operation.path)
  if not container then return nil, key end
  if json_copy.equal(container[key], operation.value) then return true end
  return nil, "the value is another one"
end

local OPERATIONS = {
  -- op        what it does    what it needs beside its path
  add     = { act = add,      needs = "value" },
  remove  = { act = remove },
  replace = { act = replace,  needs = "value" },
  move    = { act = move,     needs = "from" },
  copy    = { act = copy,     needs = "from" },
  test    = { act = test,     needs = "value" },
}

-- Reading -----------------------------------------------------------------------------

local function read_string(given, name)
  local text = rawget(given, name)
  if type(text) == "string" then return text end
  return nil, ('"%s" is %s'):format(name, text == nil and "missing" or "not a string")
end

local function read_pointer(given, name, depth)
  local text, why = read_string(given, name)
  if not text then return nil, why end
  return json_pointer.parse(text, depth)
end

-- What does the operation, and what it is; or nil and why.
local function read(given, depth)
  if not json_copy.is_object(given) then return nil, "it is not an object" end
  local op, why = read_string(given, "op")
  if not op then return nil, why end
  local kind = OPERATIONS[op]
  if not kind then return nil, "there is no such operation" end
  local operation = { value = rawget(given, "value") }
  operation.path, why = read_pointer(given, "path", depth)
  if operation.path and kind.needs == "from" then
    operation.from, why = read_pointer(given, "from", depth)
  end
  if why then return nil, why end
  if kind.needs == "value" and operation.value == nil then
    return nil, '"value" is missing'
  end
  return kind.act, operation
end

-- Which operation it is, what it is called and where it points.
local function describe(operations, index)
  local place = ("operation %d of %d"):format(index, #operations)
  local given, words = operations[index], {}
  if not json_copy.is_object(given) then return place end
  for _, name in ipairs { "op", "from", "path" } do
    local text = rawget(given, name)
    if type(text) == "string" then
      words[#words + 1] = name .. " " .. quote(text)
    end
  end
  return #words > 0 and ("%s (%s)"):format(place, table.concat(words, ", ")) or place
end

-- What is wrong with a patch as a whole, or nil.
local function complaint_of(operations, limits)
  if type(operations) ~= "table" or json_copy.is_object(operations) then
    return "a JSON patch is an array of operations"
  end
  local most = limits and limits.operations or MOST_OPERATIONS
  if #operations <= most then return nil end
  return ("the patch has %d operations, more than %d"):format(#operations, most)
end

--- Applies the operations of a JSON patch to a copy of a document.
---@param document any
---@param operations any          the value that a patch was decoded to
---@param limits? luaweb.PatchLimits
---@return any result             shares no table with the arguments; may be false.
---nil: refused
---@return string? message        'operation 2 of 3 (op "test", path "/a"): the ...'
---@return integer? index         of the operation, from 1; nil: the fault is in none
---Raises an error for what is no JSON value, for instance a function.
---source: RFC 6902 §3 to §5
function M.patch(document, operations, limits)
  if document == nil then error("json_patch: there is no document", 2) end
  local complaint = complaint_of(operations, limits)
  if complaint then return nil, complaint end
  local budget = json_copy.budget(limits)
  local draft, why = json_draft.new(document, budget)
  if not draft then return nil, "the document is beyond a limit: " .. why end
  for index = 1, #operations do
    local act, operation = read(operations[index], budget.depth)
    local done
    if act then done, why = act(draft, operation) else why = operation end
    if not done then return nil, describe(operations, index) .. ": " .. why, index end
  end
  return draft.holder[""]
end

-- Both kinds --------------------------------------------------------------------------

local KINDS = {
  ["application/json-patch+json"] = M.patch,
  ["application/merge-patch+json"] = json_merge.merge,
}

--- The media types that M.apply knows.
---@type string[]
M.media_types = { "application/json-patch+json", "application/merge-patch+json" }

--- Applies a patch of either kind.
---@param media_type string?   of the patch; its parameters are ignored
---@param document any
---@param patch any            the value that it was decoded to
---@param limits? luaweb.PatchLimits
---@return any result          as M.patch and json_merge.merge give it
---@return string? message
---@return integer? index
---source: RFC 6902 §6, RFC 7396 §4
function M.apply(media_type, document, patch, limits)
  local name = (media_type or ""):match "^%s*([^;%s]*)"
  local apply = KINDS[name:lower()]
  if apply then return apply(document, patch, limits) end
  return nil, quote(name) .. " is no media type of a JSON patch"
end

return M
