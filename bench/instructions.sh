#!/usr/bin/env bash
# bench/instructions.sh -- instructions per operation of the hottest paths, counted by valgrind, beside those of
# bench/instructions.txt. Installs and builds what is missing.
#
#   ./bench/instructions.sh [--accept] [NAME]
#
#   --accept   writes the new counts to bench/instructions.txt
#   NAME       only paths whose name contains it
#
# A count is the difference of two runs, so what a run needs once is not in it. The talk with a private server is
# written down before, and played back under valgrind. Counts repeat within a percent with the same compiler,
# libraries and version; elsewhere they differ, so compare with a run of your own.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

accept=no
only=
for argument in "$@"; do
    case $argument in
    --accept) accept=yes ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    -*) fail "what is $argument?" ;;
    *) only=$argument ;;
    esac
done

kept=$root/bench/instructions.txt
program=$root/build/bin/release/guildhall_bench

# Instructions of one run.
count_of() {
    local name=$1 count=$2 tape=$3 out
    out=$scratch/$name.$count.out
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" --path "$name" --count "$count" --tape "$tape" \
        > "$out" 2>&1 || { cat "$out" >&2; return 1; }
    sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p' "$out"
}

# Of the two runs, per operation.
cost_of() {
    local name=$1 few=$2 many=$3 talks=$4 first second count
    for count in "$few" "$many"; do
        if [ "$talks" = tape ]; then
            "$cli" -s "${redis_address#unix:}" flushall > /dev/null
            "$program" --path "$name" --count "$count" --tape "$scratch/$name.$count" --redis "$redis_address" ||
                return 1
        fi
    done
    first=$(count_of "$name" "$few" "$scratch/$name.$few") || return 1
    second=$(count_of "$name" "$many" "$scratch/$name.$many") || return 1
    awk -v a="$first" -v b="$second" -v n="$((many - few))" 'BEGIN { printf "%.1f\n", (b - a) / n }'
}

kept_cost() { awk -v name="$1" '$1 == name { print $2 }' "$kept" 2> /dev/null; }

setup build redis profile
build release guildhall_bench
make_scratch
start_redis
cli=$(either redis-cli valkey-cli)

new=$scratch/instructions.txt
sed -n '/^#/p' "$kept" > "$new" 2> /dev/null || true
printf '%-18s %-12s %12s %12s %9s\n' path per kept now change
while read -r name unit few many talks <&3; do
    if [[ $name != *"$only"* ]]; then continue; fi
    now=$(cost_of "$name" "$few" "$many" "$talks") || fail "$name could not be counted"
    before=$(kept_cost "$name")
    printf '%-18s %-12s %12s %12s %9s\n' "$name" "$unit" "${before:--}" "$now" \
        "$(awk -v a="${before:-0}" -v b="$now" \
            'BEGIN { if (a > 0) printf "%+.1f %%", (b / a - 1) * 100; else print "-" }')"
    printf '%-18s %12s %s\n' "$name" "$now" "$unit" >> "$new"
done 3< <("$program" --paths)

if [ "$accept" = yes ]; then
    if [ -n "$only" ]; then fail "--accept wants all paths"; fi
    cp "$new" "$kept"
    say "written to ${kept#"$root"/}"
fi
