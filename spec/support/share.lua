-- SPDX-License-Identifier: MIT
-- Opens shared memory in the test library, whose one state all specs of a run have.
local pure = require "spec.support.pure"

local M = {}

M.lib = pure.load "share/region"
M.fd = M.lib.lw_share_create()
--- What a region was before there was shared memory.
M.early = M.lib.lw_share_region("early", 1)
M.is_open = M.lib.lw_share_open(M.fd)

return M
