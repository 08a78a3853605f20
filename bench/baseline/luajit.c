/* SPDX-License-Identifier: MIT
 *
 * Runs a Lua script with the LuaJIT that luaweb is linked with: what libraries for Lua
 * are measured under.  Debian's command `luajit` is not always there: its package can't
 * be installed beside that of the OpenResty branch.
 *
 *     luajit script.lua
 */
#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

int main(int argc, char **argv)
{
    lua_State *lua = luaL_newstate();
    if (argc != 2 || lua == NULL) {
        fprintf(stderr, "usage: luajit script.lua\n");
        return 2;
    }
    luaL_openlibs(lua);
    if (luaL_dofile(lua, argv[1]) != 0) {
        fprintf(stderr, "luajit: %s\n", lua_tostring(lua, -1));
        return 1;
    }
    lua_close(lua);
    return 0;
}
