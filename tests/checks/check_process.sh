#!/usr/bin/env bash
# check_process.sh -- Guildhall keeps nothing that belongs to the whole process: clients on two threads share nothing,
# as ThreadSanitizer sees it, and a shared library with Guildhall in it is unloaded without a trace.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

make_scratch
mapfile -t sources < <(find sdk/src platform/posix build/generated/scripts -name '*.c')
sources+=(tests/programs/round.c)
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -Isdk/include -Isdk/src -Ibuild/generated)

compile_threads() {
    cc "${flags[@]}" -O1 -g -fsanitize=thread "${sources[@]}" tests/programs/threads.c -o "$scratch/threads" \
        -l:libhiredis.a -l:libxxhash.a -lpthread
}

compile_plugin() {
    cc "${flags[@]}" -O1 -fPIC -shared "${sources[@]}" -o "$scratch/plugin.so" -lhiredis -lxxhash &&
        cc "${flags[@]}" tests/programs/plugin_host.c -o "$scratch/plugin_host" -lhiredis -ldl
}

run_threads() { TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$scratch/threads" "$1"; }

check 'two threads compile' compile_threads
check 'a plugin and its engine compile' compile_plugin
start_redis
check 'two clients on two threads share nothing' run_threads "$redis_address"
check 'a plugin that is unloaded leaves hiredis as it was' "$scratch/plugin_host" "$scratch/plugin.so" "$redis_address"
check_summary
