-- SPDX-License-Identifier: MIT
-- Opens shared memory in the test library, whose one state all specs of a run have.
local ffi = require "ffi"
local pure = require "spec.support.pure"

local M = {}

M.lib = pure.load "share/region"

-- What the library remembers is its own to the end: it must not be unloaded before a
-- sanitizer looks for leaks.
ffi.cdef "void *dlopen(const char *path, int how);"
local NOW, NODELETE = 2, 0x1000
ffi.C.dlopen(pure.path(), NOW + NODELETE)

M.fd = M.lib.lw_share_create()
--- What a region was before there was shared memory.
M.early = M.lib.lw_share_region("early", 1)
M.is_open = M.lib.lw_share_open(M.fd)

return M
