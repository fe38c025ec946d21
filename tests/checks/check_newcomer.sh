#!/usr/bin/env bash
# check_newcomer.sh -- guildhall.hpp does what it says; and what somebody writes who has read a header once works: the
# programs of tests/newcomer and the C++ sample compile without a warning and run.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
lines_max=80 # of a program, comments and all
code_max=40  # of a newcomer's: lines that are neither empty, nor comment, nor a brace alone
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

code_lines() {
    awk '{ gsub("/\\*[^*]*\\*/", ""); sub("//.*", "") }
         /\/\*/ { inside = 1 }
         !inside && !/^[ \t{};]*$/ { count++ }
         /\*\// { inside = 0 }
         END { print count + 0 }' "$1"
}

has_little_code() {
    local count
    count=$(code_lines "$1")
    if [ "$count" -gt $code_max ]; then say "$count lines of code"; return 1; fi
}

# says PROGRAM LINE... -- runs it; each line is in what it prints. What it frees is written over, so that nothing works
# by what an entity has left behind.
says() {
    local program=$1 output line
    shift
    output=$(MALLOC_PERTURB_=165 timeout 60 "$scratch/$program" "$redis_address") || {
        say "ended with $?: $output"
        return 1
    }
    for line in "$@"; do
        if ! grep -q -x -F -- "$line" <<< "$output"; then say "no line '$line' in:" "$output"; return 1; fi
    done
}

# Where clang is, its warnings too.
compile_with_clang() { clang++ -std=c++17 "${warnings[@]}" -Isdk/include -fsyntax-only "$1"; }

for source in tests/newcomer/*.c* samples/*.cpp tests/cplusplus/hpp.cpp; do
    check "$source compiles" compile "$source"
    if [ "$source" != tests/cplusplus/hpp.cpp ]; then check "$source is short" is_short "$source"; fi
    [[ $source != tests/newcomer/* ]] || check "$source has $code_max lines of code at most" has_little_code "$source"
    if [ "${source##*.}" = cpp ] && command -v clang++ > /dev/null; then
        check "$source compiles with clang" compile_with_clang "$source"
    fi
done
check 'matchmaking of four' says matchmaking 'plays: jason' 'plays: jeff' 'plays: jenny' 'plays: mia'
check 'an auction under a fence' says auction 'jason bids 120: OK' 'jeff bids 100: too low' 'jenny bids 500: FENCED'
check 'a server in C++' says server 'jeff hears hello from jason' 'jeff: 2 OK' 'jeff: 2 INVALID_CONTACTS'
check 'ops in a vector that grows' says doors IDLE 'does not hold: op->self == op'
check 'the sample in C++' says arena 'mia: seat HELD'
check 'guildhall.hpp' says hpp 'all of it'
check_summary
