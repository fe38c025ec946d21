#!/usr/bin/env bash
# check_mbedtls.sh -- with mbedTLS compiled from its sources the tests of TLS pass, and no call of the heap is counted
# in a hand-shake.
#
#   GUILDHALL_MBEDTLS=DIR ./tests/checks/check_mbedtls.sh
#
# Works on a copy of the tree with its debug build. Without the sources it only says so.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

mbedtls=${GUILDHALL_MBEDTLS-}

copy_tree() {
    tree=$scratch/tree
    mkdir "$tree"
    tar -c --exclude=./.git --exclude=./build/sanitize --exclude=./build/logs --exclude=./build/bench . |
        tar -x -C "$tree"
    rm -rf "$tree/build/obj/guildhall_tls" "$tree"/build/bin/debug/libguildhall_tls.a \
        "$tree/build/bin/debug/guildhall_tests" \
        "$tree"/build/obj/guildhall_tests/debug/{tls_front,test_tls_keys}.o # which include the other mbedTLS
}

build_copy() {
    (root=$tree && run_premake --mbedtls="$mbedtls" gmake) &&
        make -s -C "$tree/build" config=debug -j "$(processors)" guildhall guildhall_tests
}

run_tests() {
    "$tree/build/bin/debug/guildhall_tests" 'tls.*' 'tls_bytes.*' 'tls_nodes.*' 'tls_sentinel.*' \
        > "$scratch/output" 2>&1 || { cat "$scratch/output"; return 1; }
}

takes_no_heap() { grep -x '0 calls of the heap in a hand-shake' "$scratch/output"; }

if [ -z "$mbedtls" ]; then
    check_passed 'skipped: mbedTLS from its sources: GUILDHALL_MBEDTLS does not name them'
    check_summary
    exit
fi
mbedtls=$(cd "$mbedtls" && pwd)
build debug guildhall guildhall_tests
make_scratch
copy_tree
check 'it builds from its sources' build_copy
check 'the tests of TLS pass' run_tests
check 'no call of the heap in a hand-shake' takes_no_heap
check_summary
