# Turns .sql files into C++ constants:
#   cmake -DSOURCE=<checkout> -DOUTPUT=<generated include root> -P embed.cmake
#
#   sql/<module>/<verb_noun>.sql -> sql/statements.hpp     oncepay::sql::<module>::<verb_noun>, oncepay::sql::all
#   migrations/<NNNN>_<name>.sql -> migrations/embedded.hpp  oncepay::db::embedded_migrations, in order
#
# A statement loses the comment lines at its head and gets its name as a comment instead; a migration is kept byte for
# byte, because its checksum is taken over exactly that text. A header is rewritten only when its content changed.
cmake_minimum_required(VERSION 3.25)

function(read_text path result)
  # Not file(READ): that drops NUL bytes and cannot hold every character; the hexadecimal form can.
  file(READ "${path}" bytes HEX)
  if(bytes MATCHES "^(..)*00")
    message(FATAL_ERROR "${path}: contains a NUL byte")
  endif()
  file(READ "${path}" text)
  string(FIND "${text}" ")sql\"" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${path}: contains )sql\", which ends the C++ literal it is embedded in")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(write_if_changed path text)
  set(old "")
  if(EXISTS "${path}")
    file(READ "${path}" old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE "${path}" "${text}")
  endif()
endfunction()

# strip_head TEXT RESULT: without the blank lines and whole-line comments before the first token.
function(strip_head text result)
  while(text MATCHES "^([ \t\r\n]+|--[^\n]*\n)")
    string(LENGTH "${CMAKE_MATCH_1}" length)
    string(SUBSTRING "${text}" ${length} -1 text)
  endwhile()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(embed_statements)
  file(GLOB_RECURSE paths RELATIVE "${SOURCE}/sql" "${SOURCE}/sql/*.sql")
  list(SORT paths)
  set(body "")
  set(names "")
  foreach(path IN LISTS paths)
    if(NOT path MATCHES "^([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*)\\.sql$")
      message(FATAL_ERROR "sql/${path}: a statement's path is sql/<module>/<verb_noun>.sql, in snake_case")
    endif()
    set(module "${CMAKE_MATCH_1}")
    set(verb_noun "${CMAKE_MATCH_2}")
    read_text("${SOURCE}/sql/${path}" text)
    strip_head("${text}" text)
    if(text STREQUAL "")
      message(FATAL_ERROR "sql/${path}: holds no statement")
    endif()
    string(APPEND body "// sql/${path}\nnamespace ${module} {\n"
      "inline constexpr ::oncepay::db::Statement ${verb_noun}{\"${module}.${verb_noun}\",\n"
      "R\"sql(/* ${module}.${verb_noun} */\n${text})sql\"};\n}\n\n")
    string(APPEND names "    ${module}::${verb_noun},\n")
  endforeach()
  list(LENGTH paths count)
  write_if_changed("${OUTPUT}/sql/statements.hpp" "// Generated from sql/ by service/db/embed.cmake. Do not edit.
#pragma once

#include <array>

#include \"db/statement.hpp\"

namespace oncepay::sql {

${body}inline constexpr std::array<::oncepay::db::Statement, ${count}> all{{
${names}}};

}  // namespace oncepay::sql
")
endfunction()

function(embed_migrations)
  file(GLOB paths RELATIVE "${SOURCE}/migrations" "${SOURCE}/migrations/*.sql")
  list(SORT paths)
  set(rows "")
  set(expected 0)
  foreach(path IN LISTS paths)
    if(NOT path MATCHES "^([0-9][0-9][0-9][0-9])_([a-z][a-z0-9_]*)\\.sql$")
      message(FATAL_ERROR "migrations/${path}: a migration's name is NNNN_name.sql, in snake_case")
    endif()
    set(name "${CMAKE_MATCH_2}")
    string(REGEX REPLACE "^0+([0-9])" "\\1" version "${CMAKE_MATCH_1}")
    math(EXPR expected "${expected} + 1")
    if(NOT version EQUAL expected)
      message(FATAL_ERROR "migrations/${path}: migrations are numbered without gaps, expected number ${expected}")
    endif()
    read_text("${SOURCE}/migrations/${path}" text)
    string(APPEND rows "    Migration{${version}, \"${name}\", R\"sql(${text})sql\"},\n")
  endforeach()
  list(LENGTH paths count)
  write_if_changed("${OUTPUT}/migrations/embedded.hpp" "// Generated from migrations/ by service/db/embed.cmake. Do not edit.
#pragma once

#include <array>

#include \"db/migrations.hpp\"

namespace oncepay::db {

inline constexpr std::array<Migration, ${count}> embedded_migrations{{
${rows}}};

}  // namespace oncepay::db
")
endfunction()

embed_statements()
embed_migrations()
