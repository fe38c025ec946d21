#!/usr/bin/env bash
# check_headers.sh -- every public header compiles alone, as C11 and as C++11, without a warning; and a C++ program that
# uses them links with the library and runs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wswitch-enum -Wundef -Werror)
includes=(-Isdk/include)

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

make_scratch # here, because a check runs in a shell of its own
for path in sdk/include/guildhall/*.h; do
    header=${path#sdk/include/}
    check "$header alone, C11" compile_alone cc c11 c "$header"
    check "$header alone, C++11" compile_alone g++ c++11 c++ "$header"
done
for standard in c++17 c++20; do
    check "guildhall/guildhall.hpp alone, $standard" compile_alone g++ "$standard" c++ guildhall/guildhall.hpp
done
check 'a C++ program with the library' cplusplus_runs
check_summary
