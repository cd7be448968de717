// SPDX-License-Identifier: MIT
// Lua: functions that fork, below lua_pcall, and errors, which leave by longjmp.
#include "tests/interop/foreign.h"

#include <lua.hpp>

#include <cstring>

namespace {

int parallel_fib(lua_State* state) {
  lua_pushinteger(state, nopal_interop::work(static_cast<int>(luaL_checkinteger(state, 1))));
  return 1;
}

int parallel_error(lua_State* state) {
  nopal_interop::work(4);
  return luaL_error(state, "meant");
}

bool run_pcall() {
  lua_State* const state = luaL_newstate();
  luaL_openlibs(state);
  lua_register(state, "fib", parallel_fib);
  lua_register(state, "fail", parallel_error);
  const bool called =
      luaL_dostring(state, "local sum = 0 for i = 1, 5 do sum = sum + fib(i) end return sum") ==
          LUA_OK &&
      lua_tointeger(state, -1) == 12;
  luaL_loadstring(state, "fail()");
  const bool failed = lua_pcall(state, 0, 0, 0) == LUA_ERRRUN &&
                      std::strstr(lua_tostring(state, -1), "meant") != nullptr;
  const bool caught =
      luaL_dostring(state, "return pcall(fail)") == LUA_OK && !lua_toboolean(state, -2);
  lua_close(state);
  return called && failed && caught;
}

} // namespace

int main(int count, char** arguments) {
  return nopal_interop::main_of(count, arguments, {{"lua_pcall, with errors", run_pcall, false}});
}
