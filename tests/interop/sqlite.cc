// SPDX-License-Identifier: MIT
// SQLite: callbacks that fork, of a statement, of a function and of a collation. A connection is
// serialized (each call locks a mutex, which belongs to its thread) or multi-thread (no lock; there
// is one caller at a time).
#include "tests/interop/foreign.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace {

using nopal_interop::expected;
using nopal_interop::work;

class connection {
public:
  explicit connection(int mode) {
    sqlite3_open_v2(":memory:", &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | mode,
                    nullptr);
    run("create table t(x integer, s text); insert into t values (3, 'c'), (1, 'a'), (2, 'b')");
  }
  ~connection() { sqlite3_close(handle_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  bool run(const char* sql, int (*row)(void*, int, char**, char**) = nullptr,
           void* user = nullptr) {
    return sqlite3_exec(handle_, sql, row, user, nullptr) == SQLITE_OK;
  }
  sqlite3* handle() const { return handle_; }

private:
  sqlite3* handle_ = nullptr;
};

int append(void* user, int, char** values, char**) {
  if (work(5) == expected(5))
    *static_cast<std::string*>(user) += values[0];
  return 0;
}

int append_only(void* user, int, char** values, char**) {
  *static_cast<std::string*>(user) += values[0];
  return 0;
}

template <int Mode> bool run_exec() {
  connection c(Mode);
  std::string rows;
  return c.run("select s from t order by x", append, &rows) && rows == "abc";
}

template <int Mode> bool run_function() {
  connection c(Mode);
  sqlite3_create_function(
      c.handle(), "fib", 1, SQLITE_UTF8, nullptr,
      [](sqlite3_context* context, int, sqlite3_value** values) {
        sqlite3_result_int64(context, work(sqlite3_value_int(values[0]) + 4));
      },
      nullptr, nullptr);
  std::string rows;
  return c.run("select fib(x) || ' ' from t order by x", append_only, &rows) && rows == "5 8 13 ";
}

template <int Mode> bool run_collation() {
  connection c(Mode);
  sqlite3_create_collation(c.handle(), "backwards", SQLITE_UTF8, nullptr,
                           [](void*, int a, const void* left, int b, const void* right) {
                             const int order =
                                 std::memcmp(right, left, static_cast<std::size_t>(std::min(a, b)));
                             return work(5) == expected(5) ? order : 0;
                           });
  std::string rows;
  return c.run("select s from t order by s collate backwards", append_only, &rows) && rows == "cba";
}

} // namespace

int main(int count, char** arguments) {
  return nopal_interop::main_of(
      count, arguments,
      {{"sqlite3_exec (serialized)", run_exec<SQLITE_OPEN_FULLMUTEX>, false},
       {"a function (serialized)", run_function<SQLITE_OPEN_FULLMUTEX>, false},
       {"a collation (serialized)", run_collation<SQLITE_OPEN_FULLMUTEX>, false},
       {"sqlite3_exec (multi-thread)", run_exec<SQLITE_OPEN_NOMUTEX>, false},
       {"a function (multi-thread)", run_function<SQLITE_OPEN_NOMUTEX>, false},
       {"a collation (multi-thread)", run_collation<SQLITE_OPEN_NOMUTEX>, false}});
}
