# SPDX-License-Identifier: MIT
# Writes OUT: a C table of every lua/ module (name, text, size), and the border, which is
# core/base/abi*.h, under the name "luaweb.abi.h".  Run by the build with -DROOT= and -DOUT=.
file(GLOB_RECURSE files RELATIVE ${ROOT}/lua ${ROOT}/lua/*.lua)
list(SORT files)
set(arrays "")
set(rows "")
set(index 0)

macro(embed name path)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(APPEND arrays "static const unsigned char text_${index}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", text_${index}, sizeof(text_${index}) - 1},\n")
  math(EXPR index "${index} + 1")
endmacro()

foreach(file ${files})
  string(REGEX REPLACE "(/init)?\\.lua$" "" name ${file})
  string(REPLACE "/" "." name ${name})
  embed(${name} ${ROOT}/lua/${file})
endforeach()

# ffi.cdef knows no preprocessor.
set(border "")
file(GLOB parts RELATIVE ${ROOT}/core/base ${ROOT}/core/base/abi_*.h)
list(SORT parts)
foreach(part abi.h ${parts})
  file(READ ${ROOT}/core/base/${part} text)
  string(APPEND border "${text}\n")
endforeach()
string(REGEX REPLACE "(^|\n)#[^\n]*" "\\1" border "${border}")
file(WRITE ${OUT}.border "${border}")
embed(luaweb.abi.h ${OUT}.border)
file(REMOVE ${OUT}.border)

file(WRITE ${OUT} "/* Written by core/embed.cmake. */\n#include \"host/embedded.h\"\n\n${arrays}
const struct lw_embedded lw_embedded[] = {\n${rows}    {0, 0, 0},\n};\n")
