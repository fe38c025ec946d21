#!/usr/bin/env bash
# bench/run.sh -- measures Guildhall and its peers on the same work in one run. Installs and builds what is missing.
#
#   ./bench/run.sh [--quick] [--only NAME] [--redis HOST:PORT|unix:PATH] [ARGUMENT...]
#
#   --quick          short rounds: under a minute, less certain, and without the game server of the samples
#   --only NAME      only the benches whose name contains NAME
#   --peers LIST     of hiredis,redis-benchmark,python,bullmq,memcpy; default: all that are there
#   --tls            Guildhall's clients speak TLS, with mbedTLS; its peers do not
#   --cluster        a private Cluster beside the one server, and what it costs; or --sentinel, for a master, 2 replicas
#                    and 3 Sentinels. The peers, and what is measured beside them, have the one server
#   --redis ADDRESS  a server of yours that is empty and may be flushed, instead of a private one
#   ARGUMENT...      for guildhall_bench; build/bin/release/guildhall_bench --help tells
#
# The table goes to the terminal, bench.json and bench.html to build/bench. BullMQ takes part where node and npm are and
# a registry of packages answers; it is installed into build/bench and nowhere else.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

address=
peers=all
quick=no
tls=no
fleet= # cluster or sentinel
only=
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --redis)
        if [ $# -lt 2 ]; then fail "--redis wants an address"; fi
        address=$2
        shift
        ;;
    --redis=*) address=${1#*=} ;;
    --tls) tls=yes ;;
    --cluster) fleet=cluster ;;
    --sentinel) fleet=sentinel ;;
    --peers)
        if [ $# -lt 2 ]; then fail "--peers wants a list"; fi
        peers=$2
        arguments+=("$1" "$2")
        shift
        ;;
    --peers=*)
        peers=${1#*=}
        arguments+=(--peers "$peers")
        ;;
    --quick)
        quick=yes
        arguments+=("$1")
        ;;
    --only)
        if [ $# -lt 2 ]; then fail "--only wants a name"; fi
        only=$2
        arguments+=("$1" "$2")
        shift
        ;;
    --only=*)
        only=${1#*=}
        arguments+=(--only "$only")
        ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    *) arguments+=("$1") ;;
    esac
    shift
done

# Leaves BullMQ of the wanted version in build/bench/bullmq; without it, the bench says that it is not installed.
install_bullmq() {
    local folder=$root/build/bench/bullmq
    if ! command -v node > /dev/null || ! command -v npm > /dev/null; then return 1; fi
    mkdir -p "$folder"
    local source=$root/bench/peers/bullmq
    if ! cmp -s "$source/package.json" "$folder/package.json" || [ ! -d "$folder/node_modules/bullmq" ]; then
        say "setup: bullmq, into build/bench"
        rm -rf "$folder"
        mkdir -p "$folder"
        cp "$source/package.json" "$folder/"
        if ! (cd "$folder" && run_logged "$folder/npm.log" true timeout 60 npm install --no-audit --no-fund \
            --no-package-lock --ignore-scripts --fetch-retries 0 --fetch-timeout 15000 --cache "$folder/cache"); then
            rm -f "$folder/package.json" # so that the next run tries again
            return 1
        fi
        rm -rf "$folder/cache"
    fi
    cp "$source/peer.js" "$folder/"
}

# The sample with its servers and players. Without its libraries, the bench says that it was not built.
build_game() {
    if ! setup sample; then return 1; fi
    rm -f "$root/build/game_server.make"
    if ! run_premake gmake > /dev/null || [ ! -f "$root/build/game_server.make" ]; then return 1; fi
    build release game_server
}

if [ "$tls" = yes ]; then setup tls; fi
setup build redis bench
build release guildhall_bench quickstart
if [ "$quick" = no ] && [[ game_server == *"$only"* ]] && build_game; then
    arguments+=(--game "$root/build/bin/release/game_server")
fi
if [[ ",$peers," == *,all,* || ",$peers," == *,bullmq,* ]] && install_bullmq; then
    arguments+=(--node "$root/build/bench/bullmq")
fi
if [ "$tls" = yes ] && [ -n "$address" ]; then fail "--tls is for a private server"; fi
if [ -n "$fleet" ] && { [ "$tls" = yes ] || [ -n "$address" ]; }; then
    fail "--cluster and --sentinel are for private servers, without TLS"
fi
if [ "$tls" = yes ]; then
    make_scratch
    port=$((20000 + RANDOM % 10000))
    if ! "$root/tests/tls/papers.sh" "$scratch" > "$scratch/papers.log" 2>&1; then
        cat "$scratch/papers.log" >&2
        fail "the certificates could not be made"
    fi
    say "redis: a private server, on a unix socket, and with TLS on port $port"
    start_redis --bind 127.0.0.1 --tls-port $port --tls-auth-clients no --tls-cert-file "$scratch/server.pem" \
        --tls-key-file "$scratch/server.key" --tls-ca-cert-file "$scratch/root.pem"
    arguments+=(--tls "127.0.0.1:$port" --tls-roots "$scratch/root.pem")
    address=$redis_address
elif [ -n "$fleet" ]; then
    say "redis: a private fleet of servers, and one alone, all on loopback"
    port=$((20000 + RANDOM % 10000))
    start_redis --bind 127.0.0.1 --port $port
    address=127.0.0.1:$port
    start_fleet "$fleet"
    arguments+=(--fleet "$redis_address")
    if [ "$fleet" = sentinel ]; then arguments+=(--sentinel "$redis_name"); fi
elif [ -z "$address" ]; then
    say "redis: a private server, on a unix socket in a temporary folder"
    start_redis
    address=$redis_address
fi

cd "$root"
run_in_front build/bin/release/guildhall_bench --redis "$address" --out build/bench \
    --scripts bench/peers --library build/bin/release/libguildhall.a "${arguments[@]}"
