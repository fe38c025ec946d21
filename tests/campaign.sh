#!/usr/bin/env bash
# tests/campaign.sh -- storms with seeds that nobody chose, one after the other and some beside each other, until there
# were as many as asked for. Prints a line for each, at once, and one for tests/CAMPAIGNS.md at the end. The last line
# is "N passed, N failed": storms.
#
#   ./tests/campaign.sh [--storms N] [--beside N] [--seed N] [--without-losses] [STORM-OPTION...]
#
#   --storms N       how many; 60 without it
#   --beside N       how many run at a time; 2 without it
#   --seed N         the first seed, and the storms after it have those that follow; without it, one is drawn
#   --without-losses only seeds of storms in which the store loses nothing: each third
#   STORM-OPTION...  for tests/storm.sh: --failover, --cluster, --sentinel, --rolling, --redis PROGRAM, --seconds N,
#                    --systems LIST, --faults LIST
#
# What a storm that failed has printed stands in build/logs/storm_<seed>.log, all that happened in it beside that.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

storms=60
beside=2
seed=
step=1
options=()
server=
while [ $# -gt 0 ]; do
    case $1 in
    --storms | --beside | --seed)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        if ! [[ $2 =~ ^[0-9]+$ ]] || [ "$2" -lt 1 ]; then fail "$1 wants a number from 1"; fi
        case $1 in
        --storms) storms=$2 ;;
        --beside) beside=$2 ;;
        --seed) seed=$2 ;;
        esac
        shift
        ;;
    --without-losses) step=3 ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    --redis)
        if [ $# -lt 2 ]; then fail "--redis wants a program"; fi
        server=$2
        shift
        ;;
    *) options+=("$1") ;;
    esac
    shift
done
if [ -z "$seed" ]; then seed=$((RANDOM * 32768 + RANDOM + 1)); fi
seed=$(((seed + step - 1) / step * step))

cd "$root"
logs=$root/build/logs
mkdir -p "$logs"
setup build redis test > /dev/null
server=${server:-$(either redis-server valkey-server)}
build debug guildhall guildhall_storm

# One storm; a line of it.
storm() {
    local log=$logs/storm_$1.log history=$logs/storm_$1.history code=0 ops broken
    "${leash[@]}" "$root/tests/storm.sh" --redis "$server" --seed "$1" ${options[@]+"${options[@]}"} \
        --history "$history" > "$log" 2>&1 || code=$?
    ops=$(sed -n 's/^ops: \([0-9]*\),.*/\1/p' "$log")
    if [ "$code" -eq 0 ] && [ -n "$ops" ]; then
        printf 'ok seed %s: %s ops\n' "$1" "$ops" | tee -a "$results"
        rm -f "$log" "$history"
        return
    fi
    broken=$(sed -n 's/^  FAILED *[0-9]* cases *//p' "$log" | paste -sd ';')
    printf 'FAILED seed %s: %s ops, code %s: %s\n' "$1" "${ops:-0}" "$code" "${broken:-see its log}" |
        tee -a "$results"
    grep -A 2 '^VIOLATION' "$log" | sed -n '1,12p' || tail -n 12 "$log"
}

make_scratch
results=$scratch/results
begun=0
while [ "$begun" -lt "$storms" ]; do
    while [ "$(jobs -rp | wc -l)" -ge "$beside" ]; do wait -n || true; done
    storm $((seed + begun * step)) &
    own $!
    begun=$((begun + 1))
done
wait

passed=$(grep -c '^ok ' "$results" || true)
failed=$((storms - passed))
ops=$(awk '{sum += $4} END {printf "%d", sum}' "$results")
losses=
if [ "$step" -gt 1 ]; then losses=' without losses'; fi
version=$("$server" --version | sed 's/^\([A-Za-z]*\).* v=\([^ ]*\).*/\1 \2/')
printf '| %s | %s storms%s | %s | %s to %s | %s passed, %s failed; %s ops |\n' \
    "$(git rev-parse --short HEAD 2> /dev/null)" "$storms" "$losses${options[*]:+, ${options[*]}}" "$version" "$seed" \
    "$((seed + (storms - 1) * step))" "$passed" "$failed" "$ops"
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
