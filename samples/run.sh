#!/usr/bin/env bash
# samples/run.sh -- a fleet of game servers with its players, on a private redis-server.
# Installs and builds what is missing.
#
#   ./samples/run.sh [--sample NAME] [--redis HOST:PORT|unix:PATH] [ARGUMENT...]
#
#   --sample NAME    another sample of this folder; game_server if not given
#   --redis ADDRESS  a server that runs already, instead of a private one
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

needs=(build redis)
if [ "$sample" = game_server ]; then needs+=(sample); fi
if [ "$sample" = geo ]; then needs=(build); fi
setup "${needs[@]}"
build release "$sample"
if [ "$sample" = geo ]; then # it asks no server
    run_in_front "$root/build/bin/release/$sample" "${arguments[@]}"
    exit
fi
if [ -z "$address" ]; then
    say "redis: a private server, on a unix socket in a temporary folder"
    start_redis --appendonly yes --appendfsync always
    address=$redis_address
fi

# game_server takes options; the small samples take the address alone.
before=()
if [ "$sample" = game_server ]; then before=(--redis); fi
run_in_front "$root/build/bin/release/$sample" "${before[@]}" "$address" "${arguments[@]}"
