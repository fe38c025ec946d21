#!/usr/bin/env bash
# samples/run.sh -- a fleet of game servers with its players, on a private redis-server.
# Installs and builds what is missing.
#
#   ./samples/run.sh [--sample NAME] [--redis HOST:PORT|unix:PATH] [--cluster | --sentinel | --embedded] [--events]
#                    [ARGUMENT...]
#
#   --sample NAME    another sample of this folder; game_server if not given
#   --redis ADDRESS  a server that runs already, instead of a private one
#   --cluster        game_server on a private Cluster: 3 masters, a replica of each
#   --sentinel       game_server on a private master with 2 replicas, and 3 Sentinels
#   --embedded       game_server as one process, without any server: the store is in it, see guildhall/embedded.h
#   --events         servers of that are killed, frozen and replaced meanwhile, slots move, nodes come and go
#   ARGUMENT...      for the sample; for game_server: --seconds N, --bots N, ...
#
# All options of game_server: ./samples/run.sh -- --help, or, once it is built, build/bin/release/game_server --help.
# What is behind "--" goes to the sample as it is.
#
# The exit code is the sample's. Nothing stays behind; nothing listens on a port but game_server, on loopback.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

# What --sample accepts: the files, and the one folder that is a program of its own.
list_samples() {
    local file
    printf 'game_server'
    for file in "$root"/samples/*.c; do printf ' %s' "$(basename "$file" .c)"; done
    printf '\n'
}

sample=game_server
address=
fleet= # cluster or sentinel
embedded=no
events=no
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --sample | --redis)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        if [ "$1" = --sample ]; then sample=$2; else address=$2; fi
        shift
        ;;
    --sample=*) sample=${1#*=} ;;
    --redis=*) address=${1#*=} ;;
    --cluster) fleet=cluster ;;
    --sentinel) fleet=sentinel ;;
    --embedded) embedded=yes ;;
    --events) events=yes ;;
    -h | --help)
        show_usage
        say
        say "Samples: $(list_samples)"
        exit 0
        ;;
    --)
        shift
        arguments+=("$@")
        break
        ;;
    *) arguments+=("$1") ;;
    esac
    shift
done

if [[ " $(list_samples) " != *" $sample "* ]] || [[ $sample = *' '* ]]; then
    fail "there is no sample $sample; there are: $(list_samples)"
fi

if [ -n "$fleet" ] && { [ "$sample" != game_server ] || [ -n "$address" ]; }; then
    fail "--cluster and --sentinel are for game_server, and servers of its own; for yours: -- --cluster"
fi
if [ "$embedded" = yes ] && { [ "$sample" != game_server ] || [ -n "$address$fleet" ]; }; then
    fail "--embedded is for game_server, and no other store"
fi
if [ "$events" = yes ] && [ -z "$fleet" ]; then fail "--events wants --cluster or --sentinel"; fi

needs=(build redis)
if [ "$sample" = game_server ]; then needs+=(sample); fi
if [ "$sample" = geo ]; then needs=(build); fi
if [ "$embedded" = yes ]; then needs=(build sample lua); fi
setup "${needs[@]}"
build release "$sample"
if [ "$embedded" = yes ]; then
    run_in_front "$root/build/bin/release/$sample" --embedded "${arguments[@]}"
    exit
fi
if [ "$sample" = geo ]; then # it asks no server
    run_in_front "$root/build/bin/release/$sample" "${arguments[@]}"
    exit
fi
if [ -n "$fleet" ]; then
    say "redis: a private fleet of servers, on loopback"
    more=(--timeout 5000) # a busy machine alone should make no failover
    if [ "$events" = yes ]; then more=(); fi
    if [ "$fleet" = sentinel ]; then more+=(--quick); fi
    start_fleet "$fleet" --append-only "${more[@]}"
    address=$redis_address
    if [ "$fleet" = cluster ]; then arguments+=(--cluster); else arguments+=(--sentinel "$redis_name"); fi
    if [ "$events" = yes ]; then arguments+=(--events "$scratch"); fi
elif [ -z "$address" ]; then
    say "redis: a private server, on a unix socket in a temporary folder"
    start_redis --appendonly yes --appendfsync always
    address=$redis_address
fi

# game_server takes options; the small samples take the address alone.
before=()
if [ "$sample" = game_server ]; then before=(--redis); fi
code=0
run_in_front "$root/build/bin/release/$sample" "${before[@]}" "$address" "${arguments[@]}" || code=$?
check_fleet || code=1
exit "$code"
