#!/usr/bin/env bash
# tests/failovers.sh -- masters replaced, one after the other, while a fleet of game servers takes locks, works on tasks
# and sends; then a look at everything that they were told: all that was acknowledged is there, or was told as lost, and
# nothing was done twice. Prints a line for each run, and one for tests/CAMPAIGNS.md for each kind of store. The last
# line is "N passed, N failed": runs.
#
#   ./tests/failovers.sh [--cluster N] [--sentinel N] [--seed N] [--redis PROGRAM] [--systems LIST]
#
#   --cluster N      so many failovers on a Cluster of three masters; 10 without it, 0 for none
#   --sentinel N     so many behind three Sentinels; 10 without it, 0 for none
#   --seed N         draws their kinds; without it, one is drawn
#   --redis PROGRAM  a redis-server or valkey-server to run instead of the one in the PATH
#   --systems LIST   instead of lock,semaphore,tasks,mailbox,command
#
# A failover is planned, or forced, or its master is killed, or frozen and woken up when another is in its place; the
# next comes as soon as the fleet has settled, some three seconds later. What a Cluster plans may lose nothing. The
# others may lose what no replica had heard of when they struck, and nothing before. More than 12 are several runs, each
# with the seed after that of the last: a history has room for so many, also where a busy machine makes them slow. One
# run: ./tests/storm.sh --cluster --failovers N --seed N.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

most=12 # in a run
cluster=10
sentinel=10
seed=
systems=lock,semaphore,tasks,mailbox,command
server=()
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        show_usage
        exit 0
        ;;
    --cluster | --sentinel | --seed | --redis | --systems)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        ;;
    *) fail "tests/failovers.sh does not know $1" ;;
    esac
    case $1 in
    --redis) server=(--redis "$(realpath -m -- "$2")") ;;
    --systems) systems=$2 ;;
    *)
        if ! [[ $2 =~ ^[0-9]+$ ]]; then fail "$1 wants a number"; fi
        case $1 in
        --cluster) cluster=$2 ;;
        --sentinel) sentinel=$2 ;;
        --seed) seed=$2 ;;
        esac
        ;;
    esac
    shift 2
done
if [ -z "$seed" ]; then seed=$((RANDOM * 32768 + RANDOM + 1)); fi

cd "$root"
setup build redis test > /dev/null
build debug guildhall guildhall_storm

# So many failovers of that kind, in runs of about the same length.
failovers() {
    local runs=$((($2 + most - 1) / most)) output=$scratch/$1
    local each=$((($2 + runs - 1) / runs))
    "${leash[@]}" "$root/tests/campaign.sh" --storms "$runs" --beside 1 --seed "$3" ${server[@]+"${server[@]}"} \
        "--$1" --failovers "$each" --systems "$systems" > "$output.all" 2>&1 || true
    cat "$output.all"
}

make_scratch
if [ "$cluster" -gt 0 ]; then
    failovers cluster "$cluster" "$seed" &
    own $!
fi
if [ "$sentinel" -gt 0 ]; then
    failovers sentinel "$sentinel" $((seed + 1000)) &
    own $!
fi
wait

passed=$(cat "$scratch"/*.all | awk '/^[0-9]+ passed, [0-9]+ failed$/ {sum += $1} END {print sum + 0}')
asked=$(((cluster + most - 1) / most + (sentinel + most - 1) / most))
printf '%s passed, %s failed\n' "$passed" $((asked - passed))
[ "$passed" -eq "$asked" ]
