-- SPDX-License-Identifier: MIT
-- Memory that the processes of a server share (core/share/region.c, board.c).
local ffi = require "ffi"
local fork = require "spec.support.fork"
local share = require "spec.support.share"

local lib, created = share.lib, share.fd
ffi.cdef [[
void *lw_board(void);
void *lw_board_own(void);
void lw_board_take(uint32_t slot);
uint32_t lw_board_slot(void);
int pthread_mutex_lock(void *mutex);
void *mmap(void *at, size_t size, int protection, int flags, int fd, long offset);
int64_t lseek64(int fd, int64_t offset, int whence);
]]

local MiB = 1024 * 1024

local function region(name, size)
  return ffi.cast("uint8_t *", lib.lw_share_region(name, size))
end

describe("shared memory", function()
  it("is one sparse file, and nothing before it is open", function()
    assert.is_true(created >= 0)
    assert.is_true(share.early == nil)
    assert.is_true(share.is_open)
    assert.is_true(ffi.C.lseek64(created, 0, 2) >= 64 * MiB)
  end)

  it("gives a zeroed region, the same for the same name and size", function()
    local first = region("a.1", 5000)
    for i = 0, 4999 do assert.equal(0, first[i]) end
    assert.equal(0, tonumber(ffi.cast("uintptr_t", first)) % 4096)
    first[4999] = 7
    assert.equal(first, region("a.1", 5000))
  end)

  it("gives another for another name, or another size", function()
    local first = region("b.1", 4096)
    first[0] = 1
    assert.equal(0, region("b.2", 4096)[0])
    assert.equal(0, region("b.1", 4097)[0])
    assert.equal(1, region("b.1", 4096)[0])
  end)

  it("is the same in another process, whoever asks first", function()
    local mine = region("c.1", 100)
    mine[1] = 11
    assert.equal(11, fork.run(function() return region("c.1", 100)[1] end))
    assert.equal(0, fork.run(function() region("d.1", 100)[2] = 22 end))
    assert.equal(22, region("d.1", 100)[2])
  end)

  it("outlives who is killed while it holds the directory's lock", function()
    local directory = ffi.C.mmap(nil, 4096, 3, 1, created, 0)
    local _, signal = fork.run(function()
      ffi.C.pthread_mutex_lock(ffi.cast("char *", directory) + 16)
      fork.kill(fork.pid())
    end)
    assert.equal(fork.SIGKILL, signal)
    assert.is_false(region("e.1", 1) == nil)
    assert.is_false(region("e.2", 1) == nil)
    assert.equal(0, fork.run(function() return region("e.3", 1) == nil and 1 or 0 end))
  end)

  it("says when there is no room", function()
    assert.is_true(region("f.1", 2 ^ 36 + 1) == nil)
    assert.is_true(region("f.2", 2 ^ 36) == nil)
    assert.is_false(region("f.3", MiB) == nil)
  end)

  it("costs nothing until it is touched", function()
    local function shared_kib()
      for line in io.lines "/proc/self/status" do
        local kib = line:match "^RssShmem:%s+(%d+)"
        if kib then return tonumber(kib) end
      end
    end
    local kib = shared_kib()
    local wide = region("g.1", 256 * MiB)
    wide[200 * MiB] = 1
    assert.is_true(shared_kib() - kib < 4096)
  end)
end)

describe("the board", function()
  it("has a slot of its own for a process that took none", function()
    assert.is_false(lib.lw_board_own() == nil)
    assert.equal(0, lib.lw_board_slot())
  end)

  it("shows what a process writes into its slot to all", function()
    local board = ffi.cast("uint8_t *", lib.lw_board())
    local status = fork.run(function()
      lib.lw_board_take(3)
      ffi.cast("int32_t *", lib.lw_board_own())[0] = fork.pid()
      return lib.lw_board_slot()
    end)
    assert.equal(3, status)
    local pid = ffi.cast("int32_t *", board + 128 + 3 * 128)[0]
    assert.is_true(pid > 0)
  end)
end)
