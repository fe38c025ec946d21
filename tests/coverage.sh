#!/usr/bin/env bash
# tests/coverage.sh -- which lines and branches of sdk/ the tests run. Installs what is missing, builds the library and
# the tests with gcc's counters, under build/coverage, and runs the debug tests and some runs of the simulator. Prints
# each file that has something left over, each line and each branch that was not run, and as the last line "N passed, N
# failed": of the files, each of whose lines must be run or listed with a reason in tests/coverage.txt, of the entries
# there, none of which may be of something that is run, and of the branches, 95 % of which must be taken.
#
#   ./tests/coverage.sh [FILTER...]
#   ./tests/coverage.sh --gather
#
#   FILTER...   only the tests whose name contains it (or matches it, with a * in it), and no simulator: prints what
#               they leave over, and judges nothing
#   --gather    runs nothing: what the last run has counted, held against the list as it is now
#
# Each file of tests runs in a process of its own, three at once a processor; what a test says stands in
# build/logs/coverage. Of the fault matrix, connections are cut after each 53rd byte; GUILDHALL_STRIDE=N: each N-th.
# What processes do that the tests kill, or that leave without an end, is not counted.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

gather_only=false
filters=()
for word in "$@"; do
    case $word in
    -h | --help)
        show_usage
        exit 0
        ;;
    --gather) gather_only=true ;;
    -*) fail "tests/coverage.sh does not know $word" ;;
    *) filters+=("$word") ;;
    esac
done

cd "$root"
objects=build/coverage/obj/guildhall/debug
tests=build/coverage/bin/debug/guildhall_tests
logs=build/logs/coverage
export GUILDHALL_STRIDE=${GUILDHALL_STRIDE:-53}
export GUILDHALL_SLOW_MACHINE=1 # counting takes its time

# Tests of the tests themselves, of the samples and of what is beside sdk/.
apart=(--skip 'support.*' --skip 'fake.*' --skip 'proxy.*' --skip 'storm.*' --skip 'fleets*' --skip 'samples.*'
    --skip 'tls_samples.*' --skip 'game_*' --skip 'dns*' --skip 'embedded*' --skip 'tls_bytes.*' --skip 'python.*')

# By the kind of store: what a fleet meets in virtual time, each by its seed.
simulated=(--server --failover --cluster --sentinel)
seeds_each=5

# run_apart LABEL COMMAND... -- in a process of its own, beside others. Those that fail are named: what they would have
# run is not counted.
lanes=$((3 * $(processors))) # most of them wait
begun=()
run_apart() {
    local label=$1
    shift
    while [ ${#begun[@]} -ge "$lanes" ]; do end_those_that_are_over; done
    "${leash[@]}" "$@" > "$logs/$label.log" 2>&1 < /dev/null &
    own $!
    begun+=("$! $label")
}

end_one() {
    local pid=$1 label=$2 code=0
    wait_for "$pid" || code=$?
    disown_process "$pid"
    ended=$((ended + 1))
    if [ "$code" -ne 0 ]; then say "coverage: failed: $label: $(tail -n 1 "$logs/$label.log"); see $logs/$label.log"; fi
}

end_those_that_are_over() {
    local each left=()
    pause 0.1
    for each in "${begun[@]}"; do
        if is_running "${each%% *}"; then left+=("$each"); else end_one "${each%% *}" "${each#* }"; fi
    done
    begun=(${left[@]+"${left[@]}"})
    if [ $((SECONDS - said_at)) -ge "$progress_pause_s" ]; then
        said_at=$SECONDS
        say "coverage: $ended of $count"
    fi
}
ended=0
said_at=$SECONDS

# The simulator plays in the process itself only with --one.
run_simulator() {
    local kind seed
    for kind in "${simulated[@]}"; do
        for ((seed = 1; seed <= seeds_each; seed++)); do
            run_apart "simulator${kind}_$seed" build/coverage/bin/debug/guildhall_simulator \
                --folder build/simulator --one "$seed" "$kind"
        done
    done
}

# A file of tests at a time. A pattern with a [ is a whole name.
run_tests() {
    local file name names=()
    for file in "${files[@]}"; do
        names=()
        for name in $(grep "^$file\." <<< "$listed"); do names+=("[${name:0:1}]${name:1}"); done
        run_apart "$file" "$tests" --times "${names[@]}"
    done
}

run_all() {
    listed=$("$tests" --list "${apart[@]}" ${filters[@]+"${filters[@]}"})
    mapfile -t files < <(sed 's/\..*//' <<< "$listed" | sort -u)
    count=${#files[@]}
    if [ ${#filters[@]} -eq 0 ]; then
        count=$((count + ${#simulated[@]} * seeds_each))
        run_simulator
    fi
    run_tests
    while [ ${#begun[@]} -gt 0 ]; do end_those_that_are_over; done
}

if ! $gather_only; then
    setup build redis test > /dev/null
    build --coverage debug guildhall guildhall_tests guildhall_embedded guildhall_simulator
    rm -rf "$logs" $objects/*.gcda
    mkdir -p "$logs" build/simulator
    run_all
fi
judge=()
if [ ${#filters[@]} -eq 0 ]; then judge=(--judge); fi
python3 tests/coverage.py $objects tests/coverage.txt ${judge[@]+"${judge[@]}"}
