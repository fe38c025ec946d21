#!/usr/bin/env bash
# tests/writers.sh -- 10,000 clients write to one object within ten minutes, for each system that keeps in mind who
# wrote. The last line is "N passed, N failed".
#
#   ./tests/writers.sh
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

for word in "$@"; do
    case $word in
    -h | --help)
        show_usage
        exit 0
        ;;
    *) fail "tests/writers.sh does not know $word" ;;
    esac
done

build debug guildhall guildhall_tests
GUILDHALL_WRITERS=all GUILDHALL_HANG_SECONDS=1200 run_in_front "$root/build/bin/debug/guildhall_tests" '[w]riters.*'
