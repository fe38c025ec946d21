#!/usr/bin/env bash
# tests/suite.sh -- all tests of the debug build against another kind of store than one plain server, or under valgrind,
# but those that tests/support/scene/apart.c names with a reason. Prints the tests that fail, how many were left out, a
# line for tests/CAMPAIGNS.md, and as the last line "N passed, N failed".
#
#   ./tests/suite.sh --cluster|--sentinel|--tls|--valgrind [--stride N] [TEST-OPTION...]
#
#   --cluster      3 masters, a replica of each, wherever a test asks for a server
#   --sentinel     a master, its replica, and Sentinels that say which is which
#   --tls          a server that speaks TLS
#   --valgrind     a plain server, and the tests run under valgrind, but those that checks/valgrind.sh names
#   --stride N     cut connections after each N-th byte; 13 without it
#   TEST-OPTION... for guildhall_tests: a pattern of tests, --skip PATTERN
#
# GUILDHALL_SEED=0x... repeats a run. What all of it has printed stands in build/logs/suite_<kind>.log.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"
. "$root/tests/checks/valgrind.sh"

kind=
stride=13
options=()
while [ $# -gt 0 ]; do
    case $1 in
    --cluster | --sentinel | --tls | --valgrind) kind=${1#--} ;;
    --stride)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        stride=$2
        shift
        ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    *) options+=("$1") ;;
    esac
    shift
done
if [ -z "$kind" ]; then fail "tests/suite.sh wants --cluster, --sentinel, --tls or --valgrind"; fi

cd "$root"
mkdir -p build/logs
log=build/logs/suite_$kind.log
setup build redis test sample browser > /dev/null
build debug # some tests run the samples

show_progress() { say "suite: $(grep -a -c -E '^\[ +(OK|FAILED|SKIPPED) +\] [a-z]' "$1" || true) tests"; }

code=0
export GUILDHALL_STRIDE=$stride
how=(build/bin/debug/guildhall_tests "--$kind")
if [ "$kind" = valgrind ]; then
    how=("${under_valgrind[@]}" build/bin/debug/guildhall_tests "${not_under_valgrind[@]}")
fi
run_logged "$log" show_progress "${leash[@]}" "${how[@]}" --times \
    ${options[@]+"${options[@]}"} || code=$?
grep -a -E '^\[ +FAILED +\] [a-z_0-9]+\.[a-z]' "$log" | sort -u || true
left_out=$(sed -n 's/^\([0-9]*\) left out.*/\1/p' "$log")
counts=$(grep -a -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || true)
version=$("$(either redis-server valkey-server)" --version | sed 's/^\([A-Za-z]*\).* v=\([^ ]*\).*/\1 \2/')
printf '| %s | the tests, --%s%s | %s | %s | %s; %s left out |\n' "$(git rev-parse --short HEAD 2> /dev/null)" "$kind" \
    "${options[*]:+ ${options[*]}}" "$version" "$(sed -n 's/^seed //p' "$log")" "${counts:-no end}" "${left_out:-0}"
say "${counts:-0 passed, 1 failed}"
exit "$code"
