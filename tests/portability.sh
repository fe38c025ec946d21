#!/usr/bin/env bash
# tests/portability.sh -- the library compiles without a warning for other processors and systems: 32 bit, musl, arm64,
# s390x (big-endian), Windows; and premake5 makes a solution of it. What is not there is skipped, with a line that names
# its Debian package. Where hiredis and xxHash are there as sources, the quickstart is linked for each, and runs where
# qemu-user or wine can run it.
#
#   GUILDHALL_HIREDIS=DIR GUILDHALL_XXHASH=DIR ./tests/portability.sh
#
# Installs nothing but what a build needs. The last line is "N passed, N failed".
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/checks/check.sh"

make_scratch
folder=$scratch/engine
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wswitch-enum -Wno-overlength-strings -Werror)
hiredis=${GUILDHALL_HIREDIS-}
xxhash=${GUILDHALL_XXHASH-}
source=guildhall.c

prepare() {
    mkdir -p "$folder/include/hiredis"
    if [ -n "$hiredis" ] && [ -n "$xxhash" ]; then
        with_build_lock run_premake --bundle --hiredis="$hiredis" --xxhash="$xxhash" amalgamate || return 1
        cp build/amalgamated/guildhall_bundle.c "$folder"
    else # a compiler for another system does not look into this one's folders
        with_build_lock run_premake amalgamate || return 1
        cp /usr/include/xxhash.h "$folder/include"
        cp /usr/include/hiredis/*.h "$folder/include/hiredis"
    fi
    cp build/amalgamated/guildhall.h build/amalgamated/guildhall.c "$folder"
    sed -e 's|"guildhall/guildhall.h"|"guildhall.h"|' samples/quickstart.c > "$folder/quickstart.c"
}

compile() {
    local name=$1
    shift
    (cd "$folder" && "$@" -std=c11 -O2 "${warnings[@]}" -isystem include -c $source -o "$name.o")
}

link() {
    local name=$1 libraries=()
    shift
    if [ "$name" = windows ]; then libraries=(-lws2_32 -lbcrypt); fi
    (cd "$folder" && "$@" -std=c11 quickstart.c "$name.o" -static -o "$name.exe" "${libraries[@]}")
}

takes_a_lock() { "$@" | grep -q 'gave it back'; }

# Whether there is such a compiler, and headers and a C library for it.
can_compile() {
    printf '#include <errno.h>\n#include <stdio.h>\nint main(void) { return errno; }\n' |
        "$@" -x c - -o "$scratch/hello" 2> /dev/null
}

# target NAME PACKAGES RUNNER COMPILER... -- the runner is what runs its programs here; "env" for this processor's own.
target() {
    local name=$1 packages=$2 runner=$3 address=$redis_address
    shift 3
    if ! can_compile "$@"; then
        say "note: $name is skipped: no $* (Debian: $packages)"
        return
    fi
    check "$name: it compiles" compile "$name" "$@"
    if [ $source = guildhall.c ]; then return; fi
    check "$name: the quickstart links" link "$name" "$@"
    if ! command -v "$runner" > /dev/null; then
        say "note: $name does not run here: no $runner"
        return
    fi
    if [ "$name" = windows ]; then address=$windows_address; fi
    check "$name: the quickstart takes a lock" takes_a_lock "$runner" "$folder/$name.exe" "$address"
}

# Wine has no unix sockets: a server on a port of the loopback, which is drawn until one is free.
start_redis_on_port() {
    local port tries=20
    windows_address=none
    if ! command -v wine > /dev/null; then return; fi
    while [ $((tries--)) -gt 0 ]; do
        port=$((20000 + RANDOM % 20000))
        if ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then break; fi
    done
    start_redis --port "$port" --bind 127.0.0.1
    windows_address=127.0.0.1:$port
    export WINEPREFIX=$scratch/wine WINEDEBUG=-all
}

# In a copy of the tree: it writes into build/.
solution() {
    mkdir "$scratch/tree"
    tar -c --exclude=./.git --exclude=./build . | tar -x -C "$scratch/tree"
    (cd "$scratch/tree" && premake5 vs2022 --hiredis="$hiredis" --xxhash="$xxhash") || return 1
    local build=$scratch/tree/build name
    for name in 'debug|x64' 'release|x64' 'debug|ARM64' 'release|ARM64'; do
        grep -q -F "$name" "$build/guildhall.sln" || { say "no $name"; return 1; }
    done
    grep -q '<ConfigurationType>StaticLibrary' "$build/guildhall.vcxproj" &&
        grep -q '<ConfigurationType>DynamicLibrary' "$build/guildhall_dll.vcxproj" &&
        grep -q 'GH_DLL_EXPORTS' "$build/guildhall_dll.vcxproj" && grep -q '/utf-8' "$build/quickstart.vcxproj"
}

dll() {
    (cd "$folder" && x86_64-w64-mingw32-gcc -std=c11 -O1 -DGH_DLL_EXPORTS "${warnings[@]}" -shared guildhall_bundle.c \
        -o guildhall.dll -Wl,--out-implib,libguildhall.dll.a -lws2_32 -lbcrypt &&
        x86_64-w64-mingw32-gcc -std=c11 -DGH_DLL quickstart.c libguildhall.dll.a -o quickstart_dll.exe)
}
other_dll_names() {
    diff <(declared_names) <(nm -g --defined-only "$folder/libguildhall.dll.a" | awk '$2 == "T" { print $3 }' | sort -u)
}

setup build redis
if [ -n "$hiredis" ] && [ -n "$xxhash" ]; then
    source=guildhall_bundle.c
else
    say 'note: nothing is linked: GUILDHALL_HIREDIS and GUILDHALL_XXHASH name no folders of sources'
fi
check 'the sources are made' prepare
start_redis_on_port
start_redis
# The kernel's headers are those of 64 bit.
target 32-bit gcc-12-multilib env cc -m32 -idirafter "/usr/include/$(cc -print-multiarch 2> /dev/null)"
target musl musl-tools env musl-gcc
target arm64 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross, qemu-user to run' qemu-aarch64 aarch64-linux-gnu-gcc
target s390x 'gcc-s390x-linux-gnu libc6-dev-s390x-cross, qemu-user to run' qemu-s390x s390x-linux-gnu-gcc
target windows 'gcc-mingw-w64-x86-64, wine to run' wine x86_64-w64-mingw32-gcc
if [ $source != guildhall.c ] && command -v x86_64-w64-mingw32-gcc > /dev/null; then
    check 'windows: a DLL, and a program that uses it' dll
    check_nothing 'the DLL shows the names that are declared, and no others' other_dll_names
fi
if [ $source != guildhall.c ] && command -v premake5 > /dev/null; then
    check 'premake5 makes a solution for x64 and arm64' solution
else
    say 'note: no solution is made: no premake5, or no sources of hiredis'
fi
check_summary
