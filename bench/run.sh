#!/usr/bin/env bash
# bench/run.sh -- measures Guildhall and its peers on the same work in one run. Installs and builds what is missing.
#
#   ./bench/run.sh [--quick] [--only NAME] [--redis HOST:PORT|unix:PATH] [ARGUMENT...]
#
#   --quick          short rounds: under a minute, and less certain
#   --only NAME      only the benches whose name contains NAME
#   --redis ADDRESS  a server of yours that is empty and may be flushed, instead of a private one
#   ARGUMENT...      for guildhall_bench; see its --help
#
# The table goes to the terminal, and its figures to build/bench.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

address=
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --redis)
        if [ $# -lt 2 ]; then fail "--redis wants an address"; fi
        address=$2
        shift
        ;;
    --redis=*) address=${1#*=} ;;
    *) arguments+=("$1") ;;
    esac
    shift
done

setup build redis bench
build release guildhall_bench
if [ -z "$address" ]; then
    say "redis: a private server, on a unix socket in a temporary folder"
    start_redis
    address=$redis_address
fi

cd "$root"
run_in_front build/bin/release/guildhall_bench --redis "$address" --out build/bench \
    --library build/bin/release/libguildhall.a "${arguments[@]}"
