#!/usr/bin/env bash
# check_bundle.sh -- guildhall_bundle.c has hiredis' reader and xxHash in it: it compiles with every warning, shows the
# names of guildhall.h and no others, has the three licences, needs neither library, and works in a program that has
# another hiredis. Their sources are Debian's, or those of GUILDHALL_HIREDIS and GUILDHALL_XXHASH, two folders; the
# check is skipped where neither can be had.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

make_scratch
folder=$scratch/engine
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wswitch-enum -Wno-overlength-strings -Werror)
hiredis=${GUILDHALL_HIREDIS-}
xxhash=${GUILDHALL_XXHASH-}

# apt with lists of its own, so that the system's stay as they are, and from where the system's packages come.
sources_by_apt() {
    local lists=$scratch/apt options
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$lists/parts"
    if [ -f /etc/apt/sources.list.d/debian.sources ]; then
        sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > "$lists/parts/debian.sources"
    fi
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > "$lists/sources.list" 2> /dev/null || true
    options=(-q -o "Dir::Etc::sourcelist=$lists/sources.list" -o "Dir::Etc::sourceparts=$lists/parts"
        -o "Dir::State::lists=$lists/lists" -o "Dir::Cache=$lists/cache" -o APT::Sandbox::User=)
    cd "$lists"
    apt-get "${options[@]}" update || return 1
    apt-get "${options[@]}" source --download-only hiredis xxhash || return 1
    for name in hiredis xxhash; do
        mkdir "$name" && tar -x -f "$name"_*.orig.tar.* -C "$name" --strip-components=1 || return 1
    done
}

find_sources() {
    if [ -n "$hiredis" ] && [ -n "$xxhash" ]; then return 0; fi
    if ! command -v apt-get > /dev/null; then return 1; fi
    timeout 300 bash -c "$(declare -f sources_by_apt); scratch='$scratch'; sources_by_apt" > "$scratch/apt.log" 2>&1 ||
        return 1
    hiredis=$scratch/apt/hiredis
    xxhash=$scratch/apt/xxhash
}

prepare() {
    with_build_lock run_premake --bundle --hiredis="$hiredis" --xxhash="$xxhash" amalgamate || return 1
    mkdir "$folder"
    cp build/amalgamated/guildhall.h build/amalgamated/guildhall_bundle.c "$folder"
    sed -e 's|"guildhall/guildhall.h"|"guildhall.h"|' samples/quickstart.c > "$folder/quickstart.c"
}

compile() {
    local compiler=$1
    shift
    (cd "$folder" && "$compiler" -std=c11 "$@" "${warnings[@]}" -c guildhall_bundle.c -o guildhall_bundle.o)
}

other_names() { diff <(declared_names) <(shown_names "$folder/guildhall_bundle.o"); }

has_licences() {
    local top
    top=$(sed '/^#if/,$d' "$folder/guildhall_bundle.c")
    grep -q 'Copyright (c) .* Guildhall' <<< "$top" && [ "$(grep -c 'Redistribution and use' <<< "$top")" -eq 2 ] &&
        grep -q 'Salvatore Sanfilippo' <<< "$top" && grep -q 'Yann Collet' <<< "$top"
}

link_alone() { (cd "$folder" && cc -std=c11 "${warnings[@]}" quickstart.c guildhall_bundle.o -o quickstart); }
quickstart_runs() { "$folder/quickstart" "$1" | grep -q 'gave it back'; }

# The engine's hiredis is the system's, which need not be the version that is inside: plugin_host asks by it before,
# between and after.
beside_hiredis() {
    cc -std=c11 -O1 -fPIC -shared -I"$folder" -Isdk/include tests/programs/round.c "$folder/guildhall_bundle.c" \
        -o "$scratch/plugin.so" &&
        cc -std=c11 -rdynamic tests/programs/plugin_host.c -o "$scratch/plugin_host" -l:libhiredis.a -ldl &&
        "$scratch/plugin_host" "$scratch/plugin.so" "$1"
}

# The folders that a bundle is made of do for CMake, too.
vendored_by_cmake() {
    cmake -S . -B "$scratch/cmake" -DBUILD_SHARED_LIBS=ON -DGUILDHALL_HIREDIS="$hiredis" -DGUILDHALL_XXHASH="$xxhash" &&
        cmake --build "$scratch/cmake" -j "$(processors)"
}
vendored_names() {
    diff <(declared_names) <(nm -D -g --defined-only "$scratch/cmake/libguildhall.so" | awk '{ print $3 }' | sort -u)
}

if ! find_sources; then
    say 'note: the bundle is not checked: there are no sources of hiredis and xxHash (no deb-src, no GUILDHALL_HIREDIS)'
    check_passed 'skipped: the bundle'
    check_summary
    exit
fi
check 'the bundle is made' prepare
if command -v clang > /dev/null; then check 'it compiles with clang' compile clang -O1; fi
check 'it compiles with -O0' compile cc -O0
check 'it compiles with -O2' compile cc -O2
check_nothing 'it shows the names that are declared, and no others' other_names
check 'it has all three licences' has_licences
check 'the quickstart links with it alone' link_alone
start_redis
check 'the quickstart takes a lock and gives it back' quickstart_runs "$redis_address"
check 'a program that has a hiredis of its own keeps it' beside_hiredis "$redis_address"
check 'CMake takes the same folders' vendored_by_cmake
check_nothing 'its shared library shows what is declared, and nothing else' vendored_names
check_summary
