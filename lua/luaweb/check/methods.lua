-- SPDX-License-Identifier: MIT
-- What a resource must say of its methods: Allow, 405, 501, OPTIONS (RFC 9110 §9.1,
-- §9.3.7, §10.2.1, §15.5.6, §15.6.2).  No operation is called: only what the resource
-- does not have is sent, and OPTIONS.
local M = {}

local UNKNOWN = "LUAWEB-CHECK"
local usual = { "DELETE", "PATCH", "PUT", "POST", "GET" }
local is_safe = { GET = true, HEAD = true, OPTIONS = true }

local function sorted(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

local function check_allow(case, method, asked)
  local allow = asked.answer:field "Allow"
  if not allow then
    return case:fault(("the %d of %s has no Allow (RFC 9110 §10.2.1)"):format(
      asked.status, method), "methods")
  end
  if case.has["*"] then return end
  local wanted, got = { OPTIONS = true }, {}
  for name in pairs(case.has) do wanted[name] = true end
  for name in allow:gmatch "[^,%s]+" do got[name] = true end
  local a, b = table.concat(sorted(wanted), ", "), table.concat(sorted(got), ", ")
  if a ~= b then
    case:fault(("the Allow of %s is %s, but its methods are %s (RFC 9110 §10.2.1)")
      :format(method, b, a), "methods")
  end
end

local function check_options(case)
  local asked = case:ask "OPTIONS"
  if not asked then return end
  if asked.status == 200 or asked.status == 204 then
    return check_allow(case, "OPTIONS", asked)
  end
  local was_asked = asked.status < 500 and asked.status ~= 405
  if was_asked and case:ended_above(asked, "not_options") then
    return case:skip(("Allow of OPTIONS: %s answers %d"):format(asked.row,
      asked.status))
  end
  case:fault(("OPTIONS answers %d (RFC 9110 §9.3.7)"):format(asked.status))
end

local function check_refusal(case, method, status, row, rule)
  local asked = case:ask(method)
  if not asked or asked.status == status then return asked end
  if case:ended_above(asked, row) then
    case:skip(("%d for %s: %s answers %d"):format(status, method, asked.row,
      asked.status))
  else
    case:fault(("%s answers %d, not %d (%s)"):format(method, asked.status, status,
      rule))
  end
end

local function check_refused(case)
  for _, method in ipairs(usual) do
    if not case.has[method] then
      local asked = check_refusal(case, method, 405, "method_allowed",
        "RFC 9110 §15.5.6")
      return asked and check_allow(case, method, asked)
    end
  end
end

local function name_operations(case)
  local list = {}
  for _, method in ipairs(sorted(case.has)) do
    if method == "*" then
      list[#list + 1] = "any other method"
    elseif not is_safe[method] then
      list[#list + 1] = method
    end
  end
  if list[1] then
    case:skip(table.concat(list, ", ") .. ": operations are not called")
  end
end

--- Checks what a resource says of its methods.
---@param case luaweb.CheckCase
function M.check(case)
  check_options(case)
  if not case.has["*"] then
    check_refused(case)
    check_refusal(case, UNKNOWN, 501, "method_implemented", "RFC 9110 §15.6.2")
  end
  name_operations(case)
end

return M
