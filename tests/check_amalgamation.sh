#!/usr/bin/env bash
# check_amalgamation.sh -- guildhall.h and guildhall.c are the whole library: they compile by themselves with every
# warning, show the same names as libguildhall.a, and the quickstart runs on nothing else. An engine with a build of its
# own (samples/engine_drop_in) takes them with make and with CMake.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

make_scratch
folder=$scratch/engine # somebody's engine, which has these files and nothing of the tree
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wswitch-enum -Wno-overlength-strings -Werror)
libraries=(-l:libhiredis.a -l:libxxhash.a)

prepare() {
    run_premake amalgamate || return 1
    mkdir "$folder"
    cp build/amalgamated/guildhall.h build/amalgamated/guildhall.c "$folder"
    sed -e 's|"guildhall/guildhall.h"|"guildhall.h"|' -e '/#include "platform.h"/d' samples/quickstart.c \
        > "$folder/quickstart.c"
}

compile() { (cd "$folder" && cc -std=c11 "$1" "${warnings[@]}" -c guildhall.c -o "guildhall$1.o"); }
compile_with_zlib() {
    (cd "$folder" && cc -std=c11 -O2 -DGH_WITH_ZLIB "${warnings[@]}" -c guildhall.c -o guildhall-zlib.o)
}
header_in_cplusplus() { (cd "$folder" && g++ -std=c++11 "${warnings[@]}" -fsyntax-only -x c++ guildhall.h); }
link_quickstart() {
    (cd "$folder" && cc -std=c11 "${warnings[@]}" quickstart.c guildhall-O2.o -o quickstart "${libraries[@]}")
}

names() { nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort; }
same_names() { diff <(names build/bin/release/libguildhall.a) <(names "$folder/guildhall-O2.o"); }

quickstart_takes_a_lock() {
    local output
    output=$("$folder/quickstart" "$1") || return 1
    say "$output"
    grep -q 'got the lock' <<< "$output" && grep -q 'gave it back' <<< "$output"
}

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
check 'the header compiles as C++11' header_in_cplusplus
check 'they show the same names as the library' same_names
check 'the quickstart links with them alone' link_quickstart
start_redis
check 'the quickstart takes a lock and gives it back' quickstart_takes_a_lock "$redis_address"
check 'an engine is outside of the tree' drop_in
check 'the engine builds with make' drop_in_make
check 'the engine builds with CMake' drop_in_cmake
check 'the engine counts its starts' engine_counts_its_starts "$redis_address"
check_summary
