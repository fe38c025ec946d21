#!/usr/bin/env bash
# setup.sh GROUP ... -- installs what is missing, with apt, and says plainly what is missing where there is no apt.
#
#   build   a C compiler, make, premake, hiredis, xxHash, zlib
#   redis   redis-server and redis-cli; no service is started
#   bench   redis-benchmark, Python's redis module
#   profile valgrind
#   dns     c-ares, for guildhall_resolver
#   tls     mbedTLS, for guildhall_tls
#   lua     Lua 5.1, for guildhall_embedded
#   sample  what only the samples need: ENet, SQLite, libmicrohttpd
#   test    what only the tests need: cmocka, g++, CMake, valgrind, openssl, mbedTLS, c-ares, Lua 5.1, Python's
#           redis module
#   browser Chromium, on Debian; elsewhere what is there, or nothing: its tests are skipped then
#   lint    clang-tidy and cppcheck
#   fuzz    clang with libFuzzer
#
# Nothing is asked of apt when nothing is missing. Works as root and with sudo, and again and again.
set -euo pipefail
umask 022 # the packages' files are for everybody, whoever calls

log=
policy=

# need LABEL PACKAGE CHECK...: the CHECK succeeds if it is there; PACKAGE is what Debian calls it.
need() {
    local label=$1 package=$2
    shift 2
    if "$@" > /dev/null 2>&1; then return 0; fi
    missing_labels+=("$label")
    missing_packages+=("$package")
}

has_command() { command -v "$1"; }
has_either() { has_command "$1" || has_command "$2"; }
has_header() { printf '#include <%s>\n' "$1" | cc -E -x c -; }
has_static() { # only the linker knows where it looks
    local file
    file=$(cc -print-file-name="$1")
    [ -f "$file" ]
}
has_python_redis() { python3 -c 'import redis' || /usr/bin/python3 -c 'import redis'; }
has_browser() { has_either chromium chromium-browser || has_command google-chrome; }
is_debian() { [ -r /etc/os-release ] && [ "$(. /etc/os-release && printf '%s' "$ID")" = debian ]; }
has_fuzzer() { # also the C++ library, which it is linked with
    printf 'int LLVMFuzzerTestOneInput(void) { return 0; }\n' |
        clang -x c - -fsanitize=fuzzer,address,undefined -o /dev/null
}
has_sanitizers() { has_static libasan.so && has_static libubsan.so; }

look() {
    missing_labels=()
    missing_packages=()
    local group
    for group in "$@"; do
        case $group in
        build)
            need 'a C compiler (gcc)' gcc has_command cc
            need 'the headers of the C library' libc6-dev has_header stdio.h
            need 'make' make has_command make
            need 'premake5 or premake4' premake4 has_either premake5 premake4
            need 'hiredis with its headers' libhiredis-dev has_header hiredis/read.h
            need 'xxHash with its headers' libxxhash-dev has_header xxhash.h
            need 'zlib with its headers' zlib1g-dev has_header zlib.h
            if [ "$(uname -s)" = Linux ]; then
                need 'the static hiredis' libhiredis-dev has_static libhiredis.a
                need 'the static xxHash' libxxhash-dev has_static libxxhash.a
                need 'the static zlib' zlib1g-dev has_static libz.a
            fi
            ;;
        redis)
            need 'redis-server (or valkey-server)' redis-server has_either redis-server valkey-server
            need 'redis-cli (or valkey-cli)' redis-tools has_either redis-cli valkey-cli
            ;;
        bench)
            need 'redis-benchmark (or valkey-benchmark)' redis-tools has_either redis-benchmark valkey-benchmark
            need 'the redis module of Python' python3-redis has_python_redis
            ;;
        profile)
            need 'valgrind' valgrind has_command valgrind
            ;;
        dns)
            need 'c-ares with its headers' libc-ares-dev has_header ares.h
            ;;
        tls)
            need 'mbedTLS with its headers' libmbedtls-dev has_header mbedtls/ssl.h
            ;;
        lua)
            need 'Lua 5.1 with its headers' liblua5.1-0-dev has_header lua5.1/lua.h
            ;;
        sample)
            need 'ENet with its headers' libenet-dev has_header enet/enet.h
            need 'SQLite with its headers' libsqlite3-dev has_header sqlite3.h
            need 'libmicrohttpd with its headers' libmicrohttpd-dev has_header microhttpd.h
            ;;
        test)
            need 'cmocka with its headers' libcmocka-dev has_header cmocka.h
            need 'g++' g++ has_command g++
            need 'c-ares with its headers' libc-ares-dev has_header ares.h
            need 'openssl' openssl has_command openssl
            need 'mbedTLS with its headers' libmbedtls-dev has_header mbedtls/ssl.h
            need 'Lua 5.1 with its headers' liblua5.1-0-dev has_header lua5.1/lua.h
            need 'CMake' cmake has_command cmake
            need 'the redis module of Python' python3-redis has_python_redis
            need 'the libraries of ASan and UBSan' gcc has_sanitizers
            need 'valgrind' valgrind has_command valgrind
            need 'clang-format 19' clang-format-19 has_command clang-format-19
            ;;
        browser)
            if is_debian; then need 'Chromium' chromium has_browser; fi
            ;;
        lint)
            need 'clang-tidy' clang-tidy has_command clang-tidy
            need 'cppcheck' cppcheck has_command cppcheck
            ;;
        fuzz)
            need 'clang' clang has_command clang
            need 'libFuzzer, which comes beside clang' libclang-rt-dev has_fuzzer
            need 'the C++ library, which libFuzzer needs' g++ has_command g++
            ;;
        *)
            echo "setup.sh: no group is '$group': there are build, redis, bench, browser, profile, dns, tls, lua," \
                'sample, test, lint, fuzz' >&2
            exit 2
            ;;
        esac
    done
}

list_missing() {
    local label
    for label in "${missing_labels[@]}"; do echo "    $label"; done
}

# Ends everything that this script put in place, however it ends.
tidy() {
    if [ -n "$policy" ]; then rm -f "$policy"; fi
    if [ -n "$log" ]; then rm -f "$log"; fi
}

# One line on the screen; apt's own words only if it fails.
step() {
    local what=$1
    shift
    echo "setup: $what"
    if ! "$@" > "$log" 2>&1 < /dev/null; then
        cat "$log" >&2
        echo "setup: failed: $what" >&2
        exit 1
    fi
}

# Debian starts a server when it is installed, unless policy-rc.d says 101. A policy of the machine's owner stays.
forbid_services() {
    local file=/usr/sbin/policy-rc.d
    if [ -e "$file" ]; then return 0; fi
    policy=$file
    printf '#!/bin/sh\nexit 101\n' > "$file"
    chmod 755 "$file"
}

# Runs as root. apt waits for another apt instead of failing.
install_packages() {
    local options=(-qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold)
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    # An apt that is stopped halfway leaves a broken system behind: it may finish its step, then we go.
    trap tidy EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    forbid_services
    if ! apt-get "${options[@]}" --simulate install "$@" > /dev/null 2>&1; then
        step 'reading the list of packages' apt-get -qq -o DPkg::Lock::Timeout=300 update
    fi
    if ! apt-get "${options[@]}" install "$@" > "$log" 2>&1 < /dev/null; then
        # The list may name files that the mirror has replaced since.
        step 'reading the list of packages again' apt-get -qq -o DPkg::Lock::Timeout=300 update
        step "installing $*" apt-get "${options[@]}" install "$@"
    fi
}

if [ "${1-}" = --install ]; then
    shift
    install_packages "$@"
    exit 0
fi

look "$@"
if [ ${#missing_labels[@]} -eq 0 ]; then exit 0; fi

if ! command -v apt-get > /dev/null; then
    echo "This system has no apt-get, so please install by hand:" >&2
    list_missing >&2
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
        echo "Only root can install what is missing here, and there is no sudo:" >&2
        list_missing >&2
        echo "As root: apt-get install ${missing_packages[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

# Twice the same package would be no harm, but reads badly.
mapfile -t missing_packages < <(printf '%s\n' "${missing_packages[@]}" | sort -u)
echo "setup: installing ${missing_packages[*]}"
"${as_root[@]}" bash "${BASH_SOURCE[0]}" --install "${missing_packages[@]}"

# Without a compiler the first look could not see the rest; and an install may have fallen short.
look "$@"
if [ ${#missing_labels[@]} -gt 0 ]; then
    echo "setup: still missing:" >&2
    list_missing >&2
    exit 1
fi
