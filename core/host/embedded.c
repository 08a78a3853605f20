/* SPDX-License-Identifier: MIT
 *
 * Embedded texts, and the first chunk of a Lua state. */
#include "host/embedded.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"

static const struct lw_embedded *find(const char *name)
{
    for (const struct lw_embedded *e = lw_embedded; e->name; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

int lw_embedded_load_boot(lua_State *lua)
{
    const char *folder = getenv("LUAWEB_LUA");
    if (folder && *folder) {
        lua_pushfstring(lua, "%s/luaweb/boot.lua", folder);
        int status = luaL_loadfile(lua, lua_tostring(lua, -1));
        lua_remove(lua, -2);
        return status;
    }
    const struct lw_embedded *boot = find("luaweb.boot");
    lw_require(boot != NULL);
    return luaL_loadbuffer(lua, boot->text, boot->size, "@<luaweb>/boot.lua");
}

int lw_embedded_text(lua_State *lua)
{
    const struct lw_embedded *e = find(luaL_checkstring(lua, 1));
    if (!e)
        return 0;
    lua_pushlstring(lua, e->text, e->size);
    return 1;
}
