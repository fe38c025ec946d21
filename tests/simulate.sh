#!/usr/bin/env bash
# tests/simulate.sh -- a fleet, its network and its store in one process and in virtual time: many runs, each made of
# its seed alone, and the storm's checkers behind each. Installs what is missing, builds the program and runs it. The
# last line is "N passed, N failed": each run counts as one. The exit code is 0 only if none failed.
#
#   ./tests/simulate.sh [--seeds A..B] [--system LIST] [--faults LIST] [--ops N] [--clients N] [--jobs N]
#                       [--server|--failover|--cluster|--sentinel]
#                       [--one SEED [--without LIST] [--history FILE] [--trace FILE] [--verbose]]
#                       [--first-failure] [--prove] [--speed] [--year] [--days N] [--sanitize] [--debug]
#
#   --seeds A..B    these runs; 1..1000 without it
#   --system LIST   only these systems: lock,mailbox,...; without it, some are drawn for each run
#   --faults LIST   only these faults: cut,late,... as --one names them. ancient: what dead links held back for 10 s to
#                   40 min; without this option, one run in 24 has it beside the others
#   --ops N         at most so many ops in a run
#   --clients N     at most so many clients
#   --server        the store is one server with its data on disk, in all runs; without one of these, it is drawn
#   --failover      a primary and a replica that lags and is promoted
#   --cluster       a Cluster: masters killed, frozen, replaced, emptied; slots that move; nodes that come and go
#   --sentinel      three servers and three Sentinels
#   --jobs N        so many runs at once; as many as there are processors without it
#   --one SEED      that run, in the program's own process: nothing outside of it takes part, so gdb can
#   --without LIST  without these faults of its weather: 0,4,7-12
#   --history FILE  writes down all that happened, a line a record
#   --trace FILE    the same, and each request with its answer, by time
#   --verbose       what the clients log, and each fault
#   --first-failure no other run is begun once one has failed, and that one is told as it is
#   --prove         no campaign: sees that the same seed gives the same history, and that stores which are wrong on
#                   purpose are caught
#   --speed         how many requests a second one processor carries out: of locks alone, and of all systems; with
#                   --ops N, in shorter runs; with --system LIST or --clients N (4, 8, ... 100), that run alone
#   --year          one fleet of 16 clients for 365 virtual days, with a fault every virtual hour; --days N: for so
#                   long. Without those systems that forget by the hour or by the day: counters, aggregate, files
#   --sanitize      with ASan and UBSan; --debug: without optimisation, and with the library's assertions
#
# A run that fails is run again with fewer systems, faults, ops and clients, as long as it fails in the same way; then
# the command that repeats the smallest one is printed, and the end of its trace, which lies in build/simulator.
#
# The same seed gives the same history, byte for byte: of all runs, a number is printed that says so.
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
config=release
sanitize=()
folder=$root/build
while [ $# -gt 0 ]; do
    case $1 in
    --sanitize)
        sanitize=(--sanitize)
        folder=$root/build/sanitize
        config=debug
        ;;
    --debug) config=debug ;;
    --history | --trace)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        options+=("$1" "$(realpath -m -- "$2")")
        shift
        ;;
    *) options+=("$1") ;;
    esac
    shift
done

cd "$root"
setup build lua test > /dev/null
build "${sanitize[@]}" "$config" guildhall guildhall_embedded guildhall_simulator
mkdir -p build/simulator
run_in_front "$folder/bin/$config/guildhall_simulator" --jobs "$(processors)" --folder build/simulator "${options[@]}"
