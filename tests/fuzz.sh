#!/usr/bin/env bash
# tests/fuzz.sh -- fuzzers: clang's libFuzzer makes up what servers, files and callers might say, and each target holds
# what the library makes of it against a model, or against what must always hold. Installs what is missing, builds the
# targets of tests/fuzz with ASan and UBSan, and runs them, as many at once as there are processors. For each it says
# how many inputs were tried, and how many a second; the last line but one is for tests/CAMPAIGNS.md, and the last line
# is "N passed, N failed".
#
#   ./tests/fuzz.sh [--target T]... [--seconds N] [--runs N] [--bytes N] [--seed N]
#   ./tests/fuzz.sh --target T --input FILE
#   ./tests/fuzz.sh --list
#
#   --target T     only this one; may be said again
#   --seconds N    how long all of them together may take; 60 without it. One that was named alone has all of it
#   --runs N       instead: so many inputs for each target
#   --bytes N      no input is longer; 4096 without it, or what the longest in the corpus has. Short ones run faster
#   --seed N       of libFuzzer's dice; without it, they are drawn
#   --input FILE   runs that one input, as after a crash
#   --list         the names of the targets, and what they are
#
# What was found to reach new code is kept in build/fuzz/corpus/T, and is where the next run goes on; tests/fuzz/seeds/T
# is where the first one begins. What fails is kept in build/fuzz/crashes/T, and the run says how to repeat it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

folder=$root/tests/fuzz
out=$root/build/fuzz
wanted=()
seconds=60
runs=
bytes=
seed=
input=
list_only=false

while [ $# -gt 0 ]; do
    case $1 in
    --list)
        list_only=true
        shift
        continue
        ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    --target | --seconds | --runs | --bytes | --seed | --input)
        if [ $# -lt 2 ]; then fail "$1 wants a value"; fi
        option=$1 value=$2
        shift 2
        ;;
    --target=* | --seconds=* | --runs=* | --bytes=* | --seed=* | --input=*)
        option=${1%%=*} value=${1#*=}
        shift
        ;;
    *) fail "tests/fuzz.sh does not know $1" ;;
    esac
    case $option in
    --target) wanted+=("$value") ;;
    --input) input=$(realpath -m -- "$value") ;;
    *)
        if ! [[ $value =~ ^[1-9][0-9]*$ ]]; then fail "$option wants a number"; fi
        declare "${option#--}=$value"
        ;;
    esac
done

# --- targets ---------------------------------------------------------------------------------------------------------

all_targets() {
    local file
    for file in "$folder"/fuzz_*.c; do
        file=$(basename "$file" .c)
        say "${file#fuzz_}"
    done
}

# What stands in the first lines of its file, up to the first full stop.
what_is() {
    sed -n '1,/\*\//p' "$folder/fuzz_$1.c" | tr '\n' ' ' |
        sed -e 's|^/\* fuzz_[a-z_]*\.c -- ||' -e 's|[.:] .*||' -e 's|  *| |g'
}

mapfile -t targets < <(all_targets)
for name in ${wanted[@]+"${wanted[@]}"}; do
    if ! [ -f "$folder/fuzz_$name.c" ]; then fail "there is no target $name; tests/fuzz.sh --list has them"; fi
done
if $list_only; then
    for name in "${targets[@]}"; do printf '%-12s %s\n' "$name" "$(what_is "$name")"; done
    exit 0
fi
if [ ${#wanted[@]} -gt 0 ]; then targets=("${wanted[@]}"); fi
if [ -n "$input" ] && [ ${#targets[@]} -ne 1 ]; then fail '--input wants one --target'; fi

# --- the build -------------------------------------------------------------------------------------------------------

build_fuzzers() {
    local log=$out/build.log make=(make -k -f tests/fuzz/fuzz.mk -j "$(processors)" "OUT=build/fuzz")
    mkdir -p "$out"
    if [[ $("${make[@]}" -n 2> /dev/null || true) == *' -o '* ]]; then say 'build: fuzzers'; fi
    if ! run_logged "$log" true "${make[@]}" "${targets[@]/#/build/fuzz/bin/}"; then
        grep -v -E '^(make|clang)' "$log" | sed -n '1,60p' >&2
        fail 'build: failed; all of it is in build/fuzz/build.log'
    fi
}

# --- one target ------------------------------------------------------------------------------------------------------

# The library has no heap, so nothing of it can leak.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16:detect_stack_use_after_return=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

# The bounds that all runs have: an input that takes ten seconds hangs. Entropy would cost a quarter of the time here;
# inputs are not run again to look for leaks, and nobody else writes to the corpus.
common_options=(-entropic=0 -detect_leaks=0 -reload=0)
common_options+=(-timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1)

run_target() {
    local name=$1 dictionary=$folder/words/$1.dict options=("${common_options[@]}")
    mkdir -p "$out/corpus/$name" "$out/crashes/$name"
    options+=("-artifact_prefix=build/fuzz/crashes/$name/")
    if [ -f "$dictionary" ]; then options+=("-dict=$dictionary"); fi
    if [ -n "$seed" ]; then options+=("-seed=$seed"); fi
    if [ -n "$bytes" ]; then options+=("-max_len=$bytes"); fi
    if [ -n "$runs" ]; then options+=("-runs=$runs"); else options+=("-max_total_time=$share"); fi
    exec "${leash[@]}" "$out/bin/$name" "${options[@]}" "build/fuzz/corpus/$name" $(seeds_of "$name") < /dev/null
}

seeds_of() { if [ -d "$folder/seeds/$1" ]; then say "tests/fuzz/seeds/$1"; fi; }

figure() { sed -n "s/^stat::$2: *//p" "$out/logs/$1.log" | tail -n 1; }

# What the log of a target that has failed says of why, and how to see it again.
show_failure() {
    local log=$out/logs/$1.log kept
    if ! grep -a -m 1 -E '^FAILED |runtime error|^==[0-9]+==ERROR|^SUMMARY' "$log"; then tail -n 5 "$log"; fi |
        sed 's/^/    /'
    kept=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    if [ -n "$kept" ]; then say "    again: ./tests/fuzz.sh --target $1 --input $kept"; fi
}

total=0
passed=0
failed=0
end_target() {
    local name=$1 code=$2 executions rate
    executions=$(figure "$name" number_of_executed_units)
    rate=$(figure "$name" average_exec_per_sec)
    total=$((total + ${executions:-0}))
    if [ "$code" -eq 0 ] && [ "${executions:-0}" -gt 0 ]; then
        passed=$((passed + 1))
        printf 'ok      %-12s %10s executions, %7s a second\n' "$name" "$executions" "$rate"
    else
        failed=$((failed + 1))
        printf 'FAILED  %-12s %10s executions\n' "$name" "${executions:-no}"
        show_failure "$name"
    fi
}

# --- the run ---------------------------------------------------------------------------------------------------------

cd "$root"
setup build fuzz lua
with_build_lock build_fuzzers
mkdir -p "$out/logs"

if [ -n "$input" ]; then
    run_in_front "$out/bin/${targets[0]}" "${common_options[@]}" "$input"
    exit
fi

lanes=$(processors)
if [ "$lanes" -gt "${#targets[@]}" ]; then lanes=${#targets[@]}; fi
share=$((seconds * lanes / ${#targets[@]}))
if [ "$share" -eq 0 ]; then share=1; fi

begun=() # names and processes, oldest first
end_oldest() {
    local name=${begun[0]%% *} pid=${begun[0]#* } code=0
    wait_for "$pid" || code=$?
    disown_process "$pid"
    begun=("${begun[@]:1}")
    end_target "$name" "$code"
}

for name in "${targets[@]}"; do
    while [ ${#begun[@]} -ge "$lanes" ]; do end_oldest; done
    run_target "$name" > "$out/logs/$name.log" 2>&1 &
    own $!
    begun+=("$name $!")
done
while [ ${#begun[@]} -gt 0 ]; do end_oldest; done

# For tests/CAMPAIGNS.md.
commit=$(git -c safe.directory='*' rev-parse --short HEAD 2> /dev/null || printf -- '-')
if [ -n "$runs" ]; then length="--runs $runs"; else length="--seconds $seconds"; fi
if [ -n "$bytes" ]; then length+=" --bytes $bytes"; fi
printf '| %s | %s fuzzers, %s | | | %s passed, %s failed; %s executions |\n' \
    "$commit" "${#targets[@]}" "$length" "$passed" "$failed" "$total"
say "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
