#!/usr/bin/env bash
# samples/run.sh -- a fleet of game servers with its players, on a private redis-server.
# Installs and builds what is missing.
#
#   ./samples/run.sh [--sample NAME] [--redis HOST:PORT|unix:PATH] [ARGUMENT...]
#
#   --sample NAME    another sample of this folder; game_server if not given
#   --redis ADDRESS  a server that runs already, instead of a private one
#   ARGUMENT...      for the sample; for game_server: --seconds N, --bots N, and what its --help says
#
# The exit code is the sample's. Nothing stays behind; nothing listens on a port but game_server, on loopback.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

sample=game_server
address=
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
    *) arguments+=("$1") ;;
    esac
    shift
done

if [ ! -f "$root/samples/$sample.c" ] && [ ! -d "$root/samples/$sample" ]; then
    fail "there is no sample $sample in ${root##*/}/samples"
fi

needs=(build redis)
if [ "$sample" = game_server ]; then needs+=(sample); fi
setup "${needs[@]}"
build release "$sample"
if [ -z "$address" ]; then
    say "redis: a private server, on a unix socket in a temporary folder"
    start_redis --appendonly yes --appendfsync always
    address=$redis_address
fi

# game_server takes options; the small samples take the address alone.
before=()
if [ -d "$root/samples/$sample" ]; then before=(--redis); fi
run_in_front "$root/build/bin/release/$sample" "${before[@]}" "$address" "${arguments[@]}"
