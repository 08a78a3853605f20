-- SPDX-License-Identifier: MIT
-- Makes content with a coding, for specs: with the libraries that have the decoders,
-- and zstd frames by hand where no encoder would make them.
local ffi = require "ffi"

ffi.cdef [[
typedef struct {
  const char *next_in; unsigned avail_in; unsigned long total_in;
  char *next_out; unsigned avail_out; unsigned long total_out;
  const char *msg; void *state; void *zalloc; void *zfree; void *opaque;
  int data_type; unsigned long adler; unsigned long reserved;
} spec_z_stream;
int deflateInit2_(spec_z_stream *, int, int, int, int, int, const char *, int);
int deflate(spec_z_stream *, int);
int deflateEnd(spec_z_stream *);
int BrotliEncoderCompress(int, int, int, size_t, const char *, size_t *, char *);
size_t ZSTD_compress(char *, size_t, const char *, size_t, int);
]]

local M = {}

local libraries = {}
local function library(name)
  libraries[name] = libraries[name] or ffi.load(name)
  return libraries[name]
end

local function room_for(size)
  local most = size + 1024
  return ffi.new("char[?]", most), most
end

local DEFLATED, LEVEL, MEMORY, FINISH, STREAM_END = 8, 9, 8, 4, 1

local function deflated(text, window)
  local z, stream = library "z", ffi.new "spec_z_stream"
  local room, most = room_for(#text)
  assert(z.deflateInit2_(stream, LEVEL, DEFLATED, window, MEMORY, 0, "1.2.11",
    ffi.sizeof(stream)) == 0)
  stream.next_in, stream.avail_in = text, #text
  stream.next_out, stream.avail_out = room, most
  assert(z.deflate(stream, FINISH) == STREAM_END)
  z.deflateEnd(stream)
  return ffi.string(room, most - stream.avail_out)
end

function M.gzip(text) return deflated(text, 31) end
function M.deflate(text) return deflated(text, 15) end
function M.raw_deflate(text) return deflated(text, -15) end

function M.br(text)
  local room, most = room_for(#text)
  local size = ffi.new("size_t[1]", most)
  assert(library "brotlienc".BrotliEncoderCompress(5, 22, 0, #text, text, size, room)
    == 1)
  return ffi.string(room, size[0])
end

function M.zstd(text)
  local room, most = room_for(#text)
  return ffi.string(room, library "zstd".ZSTD_compress(room, most, text, #text, 3))
end

local function little(number, octets)
  local list = {}
  for i = 1, octets do
    list[i] = string.char(number % 256)
    number = math.floor(number / 256)
  end
  return table.concat(list)
end

--- A zstd frame (RFC 8878 §3.1.1) with a window of 2^log octets, and these blocks.
function M.zstd_frame(log, blocks)
  return "\40\181\47\253\0" .. string.char((log - 10) * 8) .. blocks
end

--- A block of the octets themselves, the last of its frame.
function M.zstd_last(text)
  return little(#text * 8 + 1, 3) .. text
end

--- A block that is `size` times one octet (at most 128 KiB), not the last.
function M.zstd_run(octet, size)
  return little(size * 8 + 2, 3) .. octet
end

--- A frame that is skipped.
function M.zstd_skipped(text)
  return "\80\42\77\24" .. little(#text, 4) .. text
end

--- Applies codings in the order in which Content-Encoding names them.
function M.all(codings, text)
  for name in codings:gmatch "[%w-]+" do
    if name == "x-gzip" then name = "gzip" end
    if name ~= "identity" then text = M[name](text) end
  end
  return text
end

return M
