-- SPDX-License-Identifier: MIT
-- Memory for many small objects (core/base/cells.h).
local ffi = require "ffi"
local pure = require "spec.support.pure"

local C = pure.load "base/cells"

local LARGEST = 512

describe("cells", function()
  local cells
  before_each(function() cells = ffi.new "struct lw_cells" end)
  after_each(function() C.lw_cells_destruct(cells) end)

  local function take(size) return C.lw_cells_resize(cells, nil, 0, size) end
  local function give(memory, size) C.lw_cells_resize(cells, memory, size, 0) end
  local function address(memory) return tonumber(ffi.cast("intptr_t", memory)) end

  it("are aligned, and do not overlap", function()
    local ends, all = {}, {}
    for i = 1, 3000 do
      local size = i * 37 % (LARGEST + 100) + 1
      local memory = take(size)
      assert.equal(0, address(memory) % 16)
      ffi.fill(memory, size, i % 256)
      all[i] = { memory = ffi.cast("uint8_t *", memory), size = size }
      ends[i] = { address(memory), address(memory) + size }
    end
    table.sort(ends, function(a, b) return a[1] < b[1] end)
    for i = 2, #ends do assert.is_true(ends[i - 1][2] <= ends[i][1]) end
    for i, one in ipairs(all) do
      assert.equal(i % 256, one.memory[0])
      assert.equal(i % 256, one.memory[one.size - 1])
      give(one.memory, one.size)
    end
  end)

  it("serve the next of their size", function()
    for _, size in ipairs { 1, 16, 17, 100, LARGEST } do
      local first, other = take(size), take(size)
      assert.is_true(first ~= other)
      give(first, size)
      assert.is_true(take(math.ceil(size / 16) * 16) == first)
    end
  end)

  it("keep what they have when they become larger or smaller", function()
    for _, pair in ipairs {
      { 10, 12 }, { 10, 100 }, { 100, 10 }, { 100, 5000 }, { 5000, 100 }, { 600, 5000 },
    } do
      local from, to = unpack(pair)
      local memory = ffi.cast("uint8_t *", take(from))
      for i = 0, from - 1 do memory[i] = i % 251 end
      memory = ffi.cast("uint8_t *", C.lw_cells_resize(cells, memory, from, to))
      for i = 0, math.min(from, to) - 1 do assert.equal(i % 251, memory[i]) end
      give(memory, to)
    end
  end)

  it("of no octets are none", function()
    assert.is_true(take(0) == nil)
    assert.is_true(C.lw_cells_resize(cells, nil, 0, 0) == nil)
  end)
end)
