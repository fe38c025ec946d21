#!/usr/bin/env bash
# check_headers.sh -- every public header compiles alone, as C11 and as C++11, without a warning; and a C++ program that
# uses them links with the library and runs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wswitch-enum -Wundef -Werror)
includes=(-Isdk/include -Iplatform/tls/include -Iplatform/resolver/include -Iplatform/embedded/include)

compile_alone() {
    local compiler=$1 standard=$2 language=$3 header=$4
    # Twice, because the second time must be nothing.
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$compiler" -std="$standard" "${warnings[@]}" "${includes[@]}" -fsyntax-only -x "$language" -
}

cplusplus_runs() {
    g++ -std=c++11 "${warnings[@]}" "${includes[@]}" tests/cplusplus/main.cpp -o "$scratch/cplusplus" \
        build/bin/debug/libguildhall.a -l:libhiredis.a -l:libxxhash.a -l:libz.a && "$scratch/cplusplus"
}

# A row of bounds.h for a field of that type.
compile_bound() {
    printf '%s\n' '#include "base/bounds.h"' "typedef struct config { size_t struct_size; $1 field; } config;" \
        'static const gh_bound rows[] = {GH_BOUND(config, field, 1, 0, 2, GH_INVALID_CONFIG)};' \
        'const gh_bound* first(void) { return rows; }' |
        "${2:-cc}" -std=c11 "${warnings[@]}" "${includes[@]}" -Isdk/src -fsyntax-only -x c -
}

# bounds.c knows numbers of four and of eight bytes.
bounds_are_of_numbers() {
    local type
    for type in uint32_t uint64_t; do compile_bound "$type" || return 1; done
    for type in bool uint8_t uint16_t gh_str 'struct { char bytes[6]; }'; do
        if compile_bound "$type" 2> /dev/null; then
            say "a row of bounds.h takes a $type"
            return 1
        fi
    done
}

make_scratch # here, because a check runs in a shell of its own
for path in sdk/include/guildhall/*.h platform/*/include/guildhall/*.h; do
    header=${path#*/include/}
    check "$header alone, C11" compile_alone cc c11 c "$header"
    check "$header alone, C++11" compile_alone g++ c++11 c++ "$header"
done
for path in sdk/include/guildhall/*.hpp; do
    header=${path#sdk/include/}
    for standard in c++17 c++20; do
        check "$header alone, $standard" compile_alone g++ "$standard" c++ "$header"
    done
done
check 'a C++ program with the library' cplusplus_runs
check 'rows of bounds.h take numbers alone' bounds_are_of_numbers
check_summary
