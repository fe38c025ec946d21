#!/usr/bin/env bash
# check_amalgamation.sh -- guildhall.h and guildhall.c are the whole library: they compile by themselves with every
# warning, show the names that the public headers declare and no others, and the quickstart runs on nothing else. An
# engine with a build of its own (samples/engine_drop_in) takes them with make and with CMake.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

make_scratch
folder=$scratch/engine # somebody's engine, which has these files and nothing of the tree
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wswitch-enum -Wno-overlength-strings -Werror)
libraries=(-l:libhiredis.a -l:libxxhash.a)

prepare() {
    with_build_lock run_premake amalgamate || return 1
    mkdir "$folder"
    cp build/amalgamated/guildhall.h build/amalgamated/guildhall.c "$folder"
    sed -e 's|"guildhall/guildhall.h"|"guildhall.h"|' samples/quickstart.c > "$folder/quickstart.c"
}

compile() { (cd "$folder" && cc -std=c11 "$1" "${warnings[@]}" -c guildhall.c -o "guildhall$1.o"); }
compile_with_zlib() {
    (cd "$folder" && cc -std=c11 -O2 -DGH_WITH_ZLIB "${warnings[@]}" -c guildhall.c -o guildhall-zlib.o)
}
header_in_cplusplus() {
    (cd "$folder" && g++ -std="$1" "${warnings[@]}" -Wold-style-cast -fsyntax-only -x c++ guildhall.h)
}
link_quickstart() {
    (cd "$folder" && cc -std=c11 "${warnings[@]}" quickstart.c guildhall-O2.o -o quickstart "${libraries[@]}")
}

other_names() { diff <(declared_names) <(shown_names "$folder/$1"); }

quickstart_takes_a_lock() {
    local output
    output=$("$folder/quickstart" "$1") || return 1
    say "$output"
    grep -q 'got the lock' <<< "$output" && grep -q 'gave it back' <<< "$output"
}

# Without a platform of Guildhall's the library asks nothing of an operating system, and the engine gives it its own.
calls_of_the_system() {
    local of_c='mem(chr|cmp|cpy|move|set)|str(cmp|len)|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_'
    (cd "$folder" && cc -std=c11 -O2 -DGH_NO_DEFAULT_PLATFORM "${warnings[@]}" -c guildhall.c -o bare.o) || return 0
    nm -u "$folder/bare.o" | awk '{ print $2 }' | grep -v -x -E "($of_c|redisReader.*|XXH.*)"
}
link_own_platform() {
    mkdir "$folder/own" && cp samples/engine_platform/* "$folder/own" &&
        sed -i -e 's|"guildhall/guildhall.h"|"guildhall.h"|' "$folder"/own/*.h &&
        (cd "$folder" && cc -std=c11 -D_POSIX_C_SOURCE=200809L -DGH_NO_DEFAULT_PLATFORM -I. "${warnings[@]}" \
            own/*.c bare.o -o own/engine "${libraries[@]}")
}
runs_on_own_platform() { "$folder/own/engine" "$1" | grep -q 'start number 1, on sockets of its own'; }

# The engine's folder is elsewhere, as an engine is.
drop_in() {
    mkdir "$scratch/drop_in"
    cp samples/engine_drop_in/* "$scratch/drop_in"
}
drop_in_make() { make -C "$scratch/drop_in" GUILDHALL="$folder" BUILD="$scratch/drop_in/make"; }
drop_in_cmake() {
    cmake -S "$scratch/drop_in" -B "$scratch/drop_in/cmake" -DGUILDHALL="$folder" &&
        cmake --build "$scratch/drop_in/cmake"
}
engine_counts_its_starts() {
    [ "$("$scratch/drop_in/make/engine" "$1")" = 'start number 1' ] &&
        [ "$("$scratch/drop_in/cmake/engine" "$1")" = 'start number 2' ]
}

check 'two files are made' prepare
check 'they compile with -O0' compile -O0
check 'they compile with -O2' compile -O2
check 'they compile with zlib' compile_with_zlib
for standard in c++11 c++14 c++17 c++20 c++23; do
    check "the header compiles as $standard" header_in_cplusplus "$standard"
done
check_nothing 'they show the names that are declared, and no others' other_names guildhall-O2.o
check 'the quickstart links with them alone' link_quickstart
start_redis
check 'the quickstart takes a lock and gives it back' quickstart_takes_a_lock "$redis_address"
check_nothing 'without a platform they ask nothing of the system' calls_of_the_system
check 'an engine with a platform of its own links' link_own_platform
check 'it counts its starts' runs_on_own_platform "$redis_address"
check 'an engine is outside of the tree' drop_in
check 'the engine builds with make' drop_in_make
check 'the engine builds with CMake' drop_in_cmake
check 'the engine counts its starts' engine_counts_its_starts "$redis_address"
check_summary
