#!/usr/bin/env bash
# check_gdb.sh -- sdk/gdb/guildhall.py shows ops, strings, names and clients. Where there is no gdb, says so.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

if ! command -v gdb > /dev/null; then
    say 'note: no gdb here, so sdk/gdb is not looked at'
    check 'sdk/gdb is there' test -f sdk/gdb/guildhall.py
    check_summary
    exit
fi

compile() {
    cc -std=c11 -g -Isdk/include tests/programs/looked_at.c -o "$scratch/looked_at" build/bin/debug/libguildhall.a \
        -l:libhiredis.a -l:libxxhash.a -l:libz.a
}

look() {
    gdb -batch -nx -ex 'set width 0' -ex 'source sdk/gdb/guildhall.py' -ex 'break look' -ex "run $redis_address" \
        -ex 'print idle.op' -ex 'print refused.op' -ex 'print held.op' -ex 'print copied.op' -ex 'print held' \
        -ex 'print plain' -ex 'print none' -ex 'print name' -ex 'print *client' -ex continue -ex 'print *client' \
        -ex 'print held.op' "$scratch/looked_at" > "$scratch/said" 2>&1 < /dev/null
}

says() {
    if grep -q -F -- "$1" "$scratch/said"; then return 0; fi
    cat "$scratch/said"
    return 1
}

make_scratch
start_redis
check 'a program to look at compiles' compile
check 'gdb looks at it' look
check 'an idle op' says '$1 = idle'
check 'one that was refused' says '$2 = ended: refused, '
check 'one that is held' says ': lock, state 3, HELD, no request, tag 7'
check 'a copy of it' says 'tag 7, a COPY of the op at 0x'
check 'an op inside its struct' says 'name = "castle gate"'
check 'a string' says '$6 = "jas\x22on\x0a"'
check 'no string' says '$7 = none'
check 'a name' says '$8 = "jenny"'
check 'a client' says ': command link ready, wake link '
check 'one that was shut down' says '$10 = no client, or shut down'
check 'an op that ended with it' says '$11 = ended: lock, '
check_summary
