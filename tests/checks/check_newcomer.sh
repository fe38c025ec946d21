#!/usr/bin/env bash
# check_newcomer.sh -- guildhall.hpp does what it says; and what somebody writes who has read a header once works: the
# programs of tests/newcomer and the C++ sample compile without a warning and run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
lines_max=80 # of a program, comments and all
libraries=(build/bin/debug/libguildhall.a -l:libhiredis.a -l:libxxhash.a -l:libz.a)

make_scratch
start_redis

compile() {
    local source=$1 name
    name=$scratch/$(basename "${source%.*}")
    case $source in
    *.c) cc -std=c11 "${warnings[@]}" -Isdk/include "$source" -o "$name" "${libraries[@]}" ;;
    *) g++ -std=c++17 "${warnings[@]}" -Wsign-conversion -Isdk/include "$source" -o "$name" "${libraries[@]}" ;;
    esac
}

is_short() { [ "$(wc -l < "$1")" -le $lines_max ]; }

# says PROGRAM LINE... -- runs it; each line is in what it prints.
says() {
    local program=$1 output line
    shift
    output=$(timeout 60 "$scratch/$program" "$redis_address") || { say "ended with $?: $output"; return 1; }
    for line in "$@"; do
        if ! grep -q -x -F -- "$line" <<< "$output"; then say "no line '$line' in:" "$output"; return 1; fi
    done
}

# Where clang is, its warnings too.
compile_with_clang() { clang++ -std=c++17 "${warnings[@]}" -Isdk/include -fsyntax-only "$1"; }

for source in tests/newcomer/*.c* samples/*.cpp tests/cplusplus/hpp.cpp; do
    check "$source compiles" compile "$source"
    if [ "$source" != tests/cplusplus/hpp.cpp ]; then check "$source is short" is_short "$source"; fi
    if [ "${source##*.}" = cpp ] && command -v clang++ > /dev/null; then
        check "$source compiles with clang" compile_with_clang "$source"
    fi
done
check 'matchmaking of four' says matchmaking 'plays: jason' 'plays: jeff' 'plays: jenny' 'plays: mia'
check 'an auction under a fence' says auction 'jason bids 120: leads' 'jeff bids 100: too low' 'jenny bids 500: FENCED'
check 'a server in C++' says server 'jeff hears hello from jason' 'jeff: 3 INVALID_CONTACTS'
check 'the sample in C++' says arena 'mia: seat HELD'
check 'guildhall.hpp' says hpp 'all of it'
check_summary
