/* SPDX-License-Identifier: MIT
 *
 * The texts that the build put into the binary: lua/ by module name, and the border. */
#ifndef LW_HOST_EMBEDDED_H
#define LW_HOST_EMBEDDED_H

#include <lua.h>
#include <stddef.h>

struct lw_embedded {
    const char *name; /* "luaweb.json"; NULL ends the table */
    const void *text; /* octets, with a NUL behind it that size does not count */
    size_t size;
};

extern const struct lw_embedded lw_embedded[];

/* Pushes luaweb.boot, from LUAWEB_LUA (a folder like lua/) or from the binary, or a
 * message; gives Lua's status. */
int lw_embedded_load_boot(lua_State *lua);

/* For Lua: embedded(name) -> text or nil */
int lw_embedded_text(lua_State *lua);

#endif
