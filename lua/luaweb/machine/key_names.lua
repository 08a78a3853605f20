-- SPDX-License-Identifier: MIT
-- What keys of machines are called elsewhere (Webmachine, Liberator, Freya), for those
-- who write what they know from there.  It only words messages.
local M = {}

local same = "it is called %s here"
local opposite = "it is called %s here, which answers the opposite"
local in_array = "a machine lists what it includes in its array part"

-- By name, in snake case.
local names = {
  -- name there                  key here                      how
  resource_exists            = { "exists",                     same },
  is_authorized              = { "authorized",                 same },
  processable                = { "content_valid",              same },
  valid_entity_length        = { "content_fits",               same },
  known_content_type         = { "media_type_taken",           same },
  can_post_to_missing        = { "may_create",                 same },
  can_put_to_missing         = { "may_create",                 same },
  delete_completed           = { "completed",                  same },
  delete_enacted             = { "completed",                  same },
  post_redirect              = { "see_other",                  same },
  post_is_create             = { "created",                    same },
  create_path                = { "location",                   same },
  process_post               = { "do_post",                    same },
  delete_resource            = { "do_delete",                  same },
  options                    = { "handle_options",             same },
  allowed_methods            = { "methods",                    same },
  content_types_provided     = { "available_media_types",      same },
  content_types_accepted     = { "acceptable_media_types",     same },
  languages_provided         = { "available_languages",        same },
  charsets_provided          = { "available_charsets",         same },
  encodings_provided         = { "available_content_codings",  same },
  generate_etag              = { "entity_tag",                 same },
  etag                       = { "entity_tag",                 same },
  moved_permanently          = { "stays_for_good",             opposite },
  moved_temporarily          = { "stays_for_now",              opposite },
  found                      = { "stays_for_now",              opposite },
  gone                       = { "never_was",                  opposite },
  previously_existed         = { "never_was",                  opposite },
  existed                    = { "never_was",                  opposite },
  malformed                  = { "well_formed",                opposite },
  malformed_request          = { "well_formed",                opposite },
  bad_request                = { "well_formed",                opposite },
  uri_too_long               = { "uri_fits",                   opposite },
  forbidden                  = { "allowed",                    opposite },
  conflict                   = { "conflict_free",              opposite },
  is_conflict                = { "conflict_free",              opposite },
  no_content                 = { "has_reply",                  opposite },
  multiple_choices           = { "single_choice",              opposite },
  multiple_representations   = { "single_choice",              opposite },
  include                    = { nil,                          in_array },
  includes                   = { nil,                          in_array },
  including                  = { nil,                          in_array },
}

--- Which key a name is elsewhere, in words; nil: it is none that is known.
---@param name string   "moved_permanently?", "movedPermanently", ...
---@return string?
function M.find(name)
  local plain = name:gsub("(%l)(%u)", "%1_%2"):lower():gsub("-", "_"):gsub("%?$", "")
  local known = names[plain]
  return known and known[2]:format(known[1]) or nil
end

return M
