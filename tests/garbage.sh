#!/usr/bin/env bash
# tests/garbage.sh -- plants all garbage there is in each key of sdk/KEYS.md, where the tests draw some at random, and
# crowds of 300,000 entries. Takes an hour, on a machine that does nothing else: beside other work a script that is only
# interrupted seems slow. The last line is "N passed, N failed".
#
#   ./tests/garbage.sh [--sanitize] [SYSTEM...]
#
#   --sanitize  with ASan and UBSan
#   SYSTEM...   only these: lock, semaphore, mailbox, chat, contacts, guild, tasks, rows, counters, files, aggregate,
#               epoch
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

sanitize=()
binary=$root/build/bin/debug/guildhall_tests
systems=()
for word in "$@"; do
    case $word in
    --sanitize)
        sanitize=(--sanitize)
        binary=$root/build/sanitize/bin/debug/guildhall_tests
        ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    -*) fail "tests/garbage.sh does not know $word" ;;
    *) systems+=("[g]arbage.$word") ;;
    esac
done
if [ ${#systems[@]} -eq 0 ]; then systems=('[g]arbage.*'); fi

build ${sanitize[@]+"${sanitize[@]}"} debug guildhall guildhall_tests
GUILDHALL_GARBAGE=all GUILDHALL_HANG_SECONDS=7200 run_in_front "$binary" "${systems[@]}"
