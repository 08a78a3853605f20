-- SPDX-License-Identifier: MIT
-- Opens shared memory in the test library, whose one state all specs of a run have.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local M = {}

M.lib = pure.load "share/region"

-- The library is unloaded at the end, and must not take what it remembers along.
ffi.cdef "void lw_tables_forget(void);"
M.last = ffi.gc(ffi.new "char[1]", function() M.lib.lw_tables_forget() end)

M.fd = M.lib.lw_share_create()
--- What a region was before there was shared memory.
M.early = M.lib.lw_share_region("early", 1)
M.is_open = M.lib.lw_share_open(M.fd)

return M
