#!/usr/bin/env bash
# tests/storm.sh -- a fleet of game servers under faults, then a look at everything they were told. Installs what is
# missing, builds the program and runs it. The last line is "N passed, N failed": each promise that is checked counts as
# one. The exit code is 0 only if none was broken.
#
#   ./tests/storm.sh [--seed N] [--seconds N] [--systems LIST] [--redis PROGRAM] [--failover] [--faults LIST]
#                    [--verbose] [--history FILE]
#
#   --seed N         the faults and the ops of that run again; without it, one is drawn, and printed
#   --seconds N      how long the weather lasts; 30 without it. The end takes some 15 s more, until all leases are over
#   --systems LIST   only these systems: lock,mailbox,...
#   --redis PROGRAM  a redis-server or valkey-server to run instead of the one in the PATH
#   --failover       a primary and a replica that lags and is promoted, instead of one server with its data on disk
#   --faults LIST    only these faults: cut,late,... as the summary names them
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
while [ $# -gt 0 ]; do
    options+=("${1%%=*}")
    case $1 in
    *=*) value=${1#*=} ;;
    --failover | --verbose)
        shift
        continue
        ;;
    --seed | --seconds | --systems | --redis | --faults | --history)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        value=$2
        shift
        ;;
    *) fail "tests/storm.sh does not know $1" ;;
    esac
    case ${options[-1]} in
    --redis | --history) value=$(realpath -m -- "$value") ;;
    esac
    options+=("$value")
    shift
done

cd "$root"
setup build redis test > /dev/null
build debug guildhall guildhall_storm
run_in_front build/bin/debug/guildhall_storm "${options[@]}"
