#!/usr/bin/env bash
# samples/pictures.sh -- makes README's pictures of the running fleet anew: samples/pictures/page.svg and view.svg.
# Installs and builds what is missing.
#
#   ./samples/pictures.sh [--seconds N] [--bots N] [--port PORT] [--out FOLDER]
#
#   --seconds N   how long the fleet has run when the pictures are made, 5 at least; 60 if not given
#   --bots N      players; as many as samples/run.sh has if not given
#   --port PORT   of its page, on loopback; 8091 if not given
#   --out FOLDER  where the pictures go; samples/pictures if not given
#
# The fleet runs on a private server, for a terminal of its own; what it shows there and on its page is drawn by
# samples/pictures/draw.py, which needs Python 3. fleet.svg and frame.svg are drawings; nothing is measured for them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

seconds=60
port=8091
out=$root/samples/pictures
arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    --seconds | --bots | --port | --out)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        case $1 in
        --seconds) seconds=$2 ;;
        --bots) arguments+=(--bots "$2") ;;
        --port) port=$2 ;;
        --out) out=$2 ;;
        esac
        shift
        ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    *) fail "pictures.sh does not know $1; --help says what it takes" ;;
    esac
    shift
done
for number in "$seconds" "$port"; do
    if ! [[ $number =~ ^[1-9][0-9]{0,4}$ ]]; then fail "$number is no number that makes sense here"; fi
done
if [ "$seconds" -lt 5 ]; then fail "--seconds wants 5 at least"; fi
if [ ! -d "$out" ]; then fail "there is no folder $out"; fi

# What the page answers, without the head of HTTP.
ask_page() {
    local link code=0
    exec {link}<> "/dev/tcp/127.0.0.1/$port" || return 1
    printf 'GET /%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$1" "$port" >&"$link"
    sed '1,/^\r$/d' <&"$link" || code=1
    exec {link}>&-
    return "$code"
}

setup build redis sample
for tool in python3 script; do
    if ! command -v "$tool" > /dev/null; then fail "pictures.sh needs $tool"; fi
done
build release game_server
make_scratch
start_redis --appendonly yes --appendfsync always

say "pictures: the fleet runs for $seconds s, and some more until all have left"
words=("$root/build/bin/release/game_server" fleet --redis "$redis_address" --page "$port")
words+=(--seconds $((seconds + 10)) "${arguments[@]}")
printf -v command ' %q' "${words[@]}"
script --quiet --flush --return --command "exec$command" "$scratch/screen.txt" > /dev/null 2>&1 < /dev/null &
fleet=$!
own "$fleet"
points=0 # the page has one of each second
while [ "$points" -lt "$seconds" ]; do
    pause 0.5
    if ! is_running "$fleet"; then fail "the fleet has ended too early: $(tail -n 20 "$scratch/screen.txt")"; fi
    ask_page history.json > "$scratch/history.json" 2> /dev/null || continue
    points=$(sed 's/^{"points":\([0-9]*\).*/\1/' "$scratch/history.json")
done
ask_page board.json > "$scratch/board.json" || fail "the page on port $port does not answer"
wait_for "$fleet" || fail "the fleet failed: $(tail -n 20 "$scratch/screen.txt")"
disown_process "$fleet"
python3 "$root/samples/pictures/draw.py" "$scratch" "$out"
say "pictures: $out/page.svg, $out/view.svg"
