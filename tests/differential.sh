#!/usr/bin/env bash
# tests/differential.sh -- the embedded store against a real redis-server: the same random requests to both, at the same
# moments of their held clocks. Every reply is compared, byte by byte, and now and then every key: type, value, end.
# Commands of all kinds with good and bad words, straight and from Lua, all of Guildhall's scripts, a user whose
# rights change, a full memory. Installs what is missing, builds the program and runs it. The last line is "N passed, N
# failed", failed being replies that differ.
#
#   ./tests/differential.sh [--requests N] [--seed S] [--verbose]
#
#   --requests N  20000 without it
#   --seed S      that run again; without it, one is drawn, and printed
#   --verbose     how often each script was called, and refused
#
# The store answers as Redis 7.0 does: with a server of another version nothing is compared, and it says so.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

for word in "$@"; do
    if [ "$word" = --help ] || [ "$word" = -h ]; then
        show_usage
        exit 0
    fi
done

cd "$root"
setup build redis lua test > /dev/null
build release guildhall guildhall_embedded guildhall_differential
run_in_front build/bin/release/guildhall_differential "$@"
