#!/usr/bin/env bash
# check_cmake.sh -- CMakeLists.txt builds the library without premake: below another project, installed for find_package
# and for pkg-config, static and shared. The quickstart is built by each and takes a lock. What CMake takes from
# sdk/generated is what the scripts give today.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

make_scratch
tree=$scratch/tree # as somebody has it who cloned it: nothing that was built
game=$scratch/game

copy_tree() {
    mkdir "$tree" "$game"
    tar -c --exclude=./.git --exclude=./build . | tar -x -C "$tree"
    cp samples/quickstart.c "$game"
}

generated_is_fresh() {
    run_premake --to="$scratch/generated" generate > /dev/null
    diff -r -q "$scratch/generated" sdk/generated || {
        say 'sdk/generated is not what the scripts give: premake5 generate'
        return 1
    }
}

# What a game has: its CMakeLists.txt says where Guildhall comes from.
describe_game() {
    cat > "$game/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.16)
project(game C)
$1
add_executable(quickstart quickstart.c)
set_target_properties(quickstart PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
target_link_libraries(quickstart PRIVATE guildhall::guildhall)
END
}

# build_game NAME OPTION... -- the same NAME again adds options to what was built.
build_game() {
    local name=$1
    shift
    cmake -S "$game" -B "$scratch/$name" -DCMAKE_BUILD_TYPE=Release "$@" &&
        cmake --build "$scratch/$name" -j "$(processors)" --target quickstart
}

by_subdirectory() {
    describe_game "add_subdirectory($tree guildhall)"
    build_game subdirectory
}

# install_library KIND NAME OPTION... -- KIND is static or shared; what is built for one NAME is not built again for the
# next of its kind.
install_library() {
    local build=$scratch/build_$1 name=$2
    shift 2
    cmake -S "$tree" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_INSTALL_PREFIX="$scratch/$name" "$@" &&
        cmake --build "$build" -j "$(processors)" &&
        cmake --install "$build"
}

by_find_package() {
    describe_game 'find_package(guildhall REQUIRED)'
    build_game "find_package_$1" -DCMAKE_PREFIX_PATH="$scratch/$1"
}

by_pkg_config() {
    local flags
    flags=$(PKG_CONFIG_PATH=$scratch/$1/lib/pkgconfig pkg-config --cflags --libs guildhall) || return 1
    mkdir "$scratch/pkg_config_$1"
    # shellcheck disable=SC2086 # the words are meant to be split
    cc -std=c11 "$game/quickstart.c" $flags -Wl,-rpath,"$scratch/$1/lib" -o "$scratch/pkg_config_$1/quickstart"
}

other_names() {
    diff <(declared_names) <(nm -D --defined-only "$scratch/shared/lib/libguildhall.so" | awk '{ print $3 }' | sort -u)
}

# With roots that are none: what it says comes out of mbedTLS.
describe_tls() {
    cat > "$game/tls.c" << 'END'
#include "guildhall/guildhall.h"
#include "guildhall/tls.h"
#include <stdio.h>
int main(void)
{
    static unsigned char block[256 * 1024];
    gh_tls_config config = gh_tls_config_default();
    gh_tls* tls;
    config.credentials.roots = gh_str_of("-----BEGIN CERTIFICATE-----\n");
    puts(gh_status_name(gh_tls_init(block, sizeof block, &config, gh_platform_default(), &tls)));
    return 0;
}
END
    printf "add_executable(tls tls.c)\ntarget_link_libraries(tls PRIVATE guildhall::tls)\n" >> "$game/CMakeLists.txt"
}

speaks_tls() {
    local name=$1
    shift
    describe_tls
    build_game "$name" "$@" && cmake --build "$scratch/$name" --target tls &&
        "$scratch/$name/tls" | grep -x -E '(GH_)?INVALID_CREDENTIALS'
}

tls_by_subdirectory() {
    describe_game "add_subdirectory($tree guildhall)"
    speaks_tls subdirectory -DGUILDHALL_TLS=ON
}

tls_by_find_package() {
    install_library static tls -DGUILDHALL_TLS=ON && describe_game 'find_package(guildhall REQUIRED)' &&
        speaks_tls tls_find_package -DCMAKE_PREFIX_PATH="$scratch/tls"
}

# The word that it prints has been through a script in the program itself.
describe_embedded() {
    cat > "$game/embedded.c" << 'END'
#include "guildhall/embedded.h"
#include <stdio.h>
int main(void)
{
    gh_embedded* store = gh_embedded_new(NULL, gh_platform_default());
    const gh_str words[3] = {GH_STR_INIT("EVAL"), GH_STR_INIT("return redis.call('ECHO', 'ours')"), GH_STR_INIT("0")};
    printf("%.*s", GH_STR_ARG(gh_embedded_ask(store, words, 3)));
    gh_embedded_free(store);
    return 0;
}
END
    printf "add_executable(embedded embedded.c)\ntarget_link_libraries(embedded PRIVATE guildhall::embedded)\n" \
        >> "$game/CMakeLists.txt"
}

has_own_store() {
    local name=$1
    shift
    describe_embedded
    build_game "$name" "$@" && cmake --build "$scratch/$name" --target embedded &&
        "$scratch/$name/embedded" | grep -q ours
}

embedded_by_subdirectory() {
    describe_game "add_subdirectory($tree guildhall)"
    has_own_store subdirectory -DGUILDHALL_EMBEDDED=ON
}

embedded_by_find_package() {
    install_library static embedded -DGUILDHALL_EMBEDDED=ON && describe_game 'find_package(guildhall REQUIRED)' &&
        has_own_store embedded_find_package -DCMAKE_PREFIX_PATH="$scratch/embedded"
}

takes_a_lock() { "$scratch/$1/quickstart" "$redis_address" | grep -q 'gave it back'; }

# check_way LABEL NAME COMMAND...
check_way() {
    local label=$1 name=$2
    shift 2
    check "$label: it builds" "$@"
    check "$label: it takes a lock" takes_a_lock "$name"
}

check 'sdk/generated is what the scripts give' generated_is_fresh
copy_tree
start_redis
check_way 'a folder of another project' subdirectory by_subdirectory
check 'the static library is installed' install_library static static
check_way 'find_package, static' find_package_static by_find_package static
if [ -f /usr/include/mbedtls/ssl.h ]; then
    check 'guildhall::tls of another project' tls_by_subdirectory
    check 'guildhall::tls by find_package' tls_by_find_package
else
    say 'note: mbedTLS is not there, so guildhall::tls is not built (Debian: libmbedtls-dev)'
fi
if [ -f /usr/include/lua5.1/lua.h ]; then
    check 'guildhall::embedded of another project' embedded_by_subdirectory
    check 'guildhall::embedded by find_package' embedded_by_find_package
else
    say 'note: Lua 5.1 is not there, so guildhall::embedded is not built (Debian: liblua5.1-0-dev)'
fi
check 'the shared library is installed' install_library shared shared -DBUILD_SHARED_LIBS=ON \
    -DGUILDHALL_ZLIB=ON -DGUILDHALL_UNWIND_TABLES=ON -DGUILDHALL_STATUS_TEXT=OFF
check_way 'find_package, shared' find_package_shared by_find_package shared
check_nothing 'the shared library shows the names that are declared, and no others' other_names
if command -v pkg-config > /dev/null; then
    check_way 'pkg-config, static' pkg_config_static by_pkg_config static
    check_way 'pkg-config, shared' pkg_config_shared by_pkg_config shared
else
    say 'note: pkg-config is not there, so its file is not checked (Debian: pkgconf)'
fi
check_summary
