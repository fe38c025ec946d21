#!/usr/bin/env bash
# tests/storm.sh -- a fleet of game servers under faults, then a look at everything they were told. Installs what is
# missing, builds the program and runs it. The last line is "N passed, N failed": each promise that is checked counts as
# one. The exit code is 0 only if none was broken.
#
#   ./tests/storm.sh [--seed N] [--seconds N] [--systems LIST] [--redis PROGRAM] [--failover|--cluster|--sentinel]
#                    [--failovers N] [--faults LIST] [--rolling|--other PROGRAM] [--verbose] [--history FILE]
#
#   --seed N         the faults and the ops of that run again; without it, one is drawn, and printed
#   --seconds N      how long the weather lasts; 30 without it. The end takes some 15 s more, until all leases are over
#   --systems LIST   only these systems: lock,mailbox,...
#   --redis PROGRAM  a redis-server or valkey-server to run instead of the one in the PATH
#   --failover       a primary and a replica that lags and is promoted, instead of one server with its data on disk
#   --cluster        a Cluster: masters killed, frozen, replaced, emptied; slots that move; nodes that come and go
#   --sentinel       three servers and three Sentinels: the same for them, and Sentinels that are killed
#   --failovers N    of those two: no weather, but N masters replaced, one after the other; see tests/failovers.sh
#   --faults LIST    only these faults: cut,late,... as the summary names them, but for ancient, which takes the
#                    simulator's virtual time
#   --rolling        a part of the game servers is of the next patch version, and they are replaced by each other, as
#                    while a fleet is rolled out. It is made of these sources, with scripts of other digests
#   --other PROGRAM  the same with a guildhall_storm of another version that somebody has built
#   --verbose        each fault, when it strikes and ends
#   --history FILE   writes down all that happened, a line a record
#
# The servers listen on private sockets. Nothing stays behind but build/.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

for word in "$@"; do
    if [ "$word" = --help ] || [ "$word" = -h ]; then
        show_usage
        exit 0
    fi
done

# A path is meant from where the script was called.
options=()
rolling=false
while [ $# -gt 0 ]; do
    options+=("${1%%=*}")
    case $1 in
    *=*) value=${1#*=} ;;
    --rolling)
        rolling=true
        unset 'options[-1]'
        shift
        continue
        ;;
    --failover | --cluster | --sentinel | --verbose)
        shift
        continue
        ;;
    --seed | --seconds | --systems | --redis | --failovers | --faults | --history | --other)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        value=$2
        shift
        ;;
    *) fail "tests/storm.sh does not know $1" ;;
    esac
    case ${options[-1]} in
    --redis | --history | --other) value=$(realpath -m -- "$value") ;;
    esac
    options+=("$value")
    shift
done

# The sources with the next patch version, and in each script something that changes nothing, built in build/other. Made
# anew when anything has changed.
sources() { find premake5.lua bench platform samples sdk tests -type f -print0 | LC_ALL=C sort -z; }

make_other() {
    local other=$root/build/other sum script patch
    sum=$(cd "$root" && sources | xargs -0 cat | cksum)
    if [ "$(cat "$other/sum" 2> /dev/null)" = "$sum" ]; then return 0; fi
    say "build: debug: the next patch version"
    rm -rf "$other"
    mkdir -p "$other"
    (cd "$root" && sources | tar -cf - --null -T -) | tar -xf - -C "$other"
    patch=$(sed -n 's/^#define GH_VERSION_PATCH //p' "$other/sdk/include/guildhall/base.h")
    sed -i "s/^\(#define GH_VERSION_PATCH\) .*/\1 $((patch + 1))/" "$other/sdk/include/guildhall/base.h"
    for script in "$other"/sdk/src/*/*.lua; do # behind the head
        awk '{ print } !done && !/^--/ { print "do local patch = 1 end"; done = 1 }' "$script" > "$script.new"
        mv "$script.new" "$script"
    done
    (cd "$other" && bash -c '. platform/posix/common.sh && build debug guildhall guildhall_storm' 2>&1) ||
        fail "the next patch version cannot be built"
    printf '%s\n' "$sum" > "$other/sum"
}

cd "$root"
setup build redis test > /dev/null
build debug guildhall guildhall_storm
if [ "$rolling" = true ]; then
    with_build_lock make_other
    options+=(--other "$root/build/other/build/bin/debug/guildhall_storm")
fi
run_in_front build/bin/debug/guildhall_storm "${options[@]}"
