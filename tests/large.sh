#!/usr/bin/env bash
# tests/large.sh -- a Cluster of thirty real masters on loopback: locks, tasks and commands on each of them, links that
# are made when they are first needed, slots that move under load; and what an idle tick costs. A minute or so.
# The last line is "N passed, N failed".
#
#   ./tests/large.sh [--sanitize]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

sanitize=()
binary=$root/build/bin/debug/guildhall_tests
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
    *) fail "tests/large.sh does not know $word" ;;
    esac
done

cd "$root"
setup build redis test > /dev/null
build ${sanitize[@]+"${sanitize[@]}"} debug guildhall guildhall_tests
GUILDHALL_LARGE=yes run_in_front "$binary" 'cluster_large.*'
