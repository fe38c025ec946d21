#!/usr/bin/env bash
# tests/run.sh -- builds and tests everything. Installs what is missing. The last line is "N passed, N failed"; the ones
# before it name what failed, and what failed only as long as other tests ran beside it ("unsteady").
#
#   ./tests/run.sh [--quick] [--redis HOST:PORT|unix:PATH] [FILTER...]
#
#   --quick          the debug tests and the checks that take seconds; no sanitizers, no valgrind
#   --redis ADDRESS  a server that runs already, for the tests that do not need one of their own
#   FILTER...        only the tests whose name contains it (or matches it, with a * in it), in the debug binary
#
# Tests start servers of their own on private sockets. Nothing stays behind but build/, with the logs in build/logs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"
. "$root/tests/checks/valgrind.sh"

log_lines_max=120
logs=$root/build/logs
passed=0
failed=0
failures=() # what failed, for the end, where a person looks first
unsteady_max=40 # of some 6000 tests
declare -A command_of=() # by label: what runs one test of a stage, given its name
quick=false
redis_option=()
filters=()

while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=true ;;
    --redis)
        if [ $# -lt 2 ]; then fail "--redis wants an address"; fi
        redis_option=(--redis "$2")
        shift
        ;;
    --redis=*) redis_option=(--redis "${1#*=}") ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    -*) fail "tests/run.sh does not know $1" ;;
    *) filters+=("$1") ;;
    esac
    shift
done

# --- stages ----------------------------------------------------------------------------------------------------------

# Stages that have begun and not ended; they run side by side.
labels=()
commands_begun=()
tests_begun=()
begun_at=()

log_of() { printf '%s' "$logs/${1//[ ,]/_}.log"; }

count_ended() { grep -a -c -E '^\[ +(OK|FAILED|SKIPPED) +\] [a-z]' "$1" || true; }

show_progress() {
    local i line=
    for i in "${!labels[@]}"; do
        if [ "${tests_begun[i]}" -eq 0 ] || ! is_running "${commands_begun[i]}"; then continue; fi
        line+="${line:+; }${labels[i]} $(count_ended "$(log_of "${labels[i]}")") of ${tests_begun[i]}"
    done
    if [ -n "$line" ]; then say "tests: ... $line"; fi
}

# What a person wants to see of a failed stage.
show_log() {
    grep -a -v -E '^(\[ +(RUN|OK) +\]| +[0-9.]+ s  )' "$1" > "$1.short" || true
    if [ "$(wc -l < "$1.short")" -gt $log_lines_max ]; then
        head -n $((log_lines_max / 3)) "$1.short"
        say '...'
        tail -n $((log_lines_max * 2 / 3)) "$1.short"
    else
        cat "$1.short"
    fi | sed 's/^/    /'
    rm -f "$1.short"
}

# Notes what failed in a stage, with cmocka's reasons; or that something did, when the log does not name it.
note_failures() {
    local label=$1 code=$2 count=$3 line named=0
    while IFS= read -r line; do
        failures+=("failed: $label: $line")
        named=$((named + 1))
    done < <(awk '
        /^\[ +RUN +\]/ { reasons = "" }
        /^ERROR: / { if (length(reasons) < 400) reasons = reasons " | " substr($0, 8, 300) }
        /^\[ +(ERROR|LINE) +\] ---/ {
            gsub(/\[ +(ERROR|LINE) +\] --- /, "")
            if (length(reasons) < 400) reasons = reasons " | " $0
        }
        /^\[ +(FAILED|ERROR) +\] [a-z_]+\.[a-z]/ {
            sub(/^[^]]*\] /, "")
            if (!seen[$0]++) print $0 reasons
            reasons = ""
        }
        /^ +FAILED  / && check != "" { # what the program behind a check says of itself
            sub(/^ +FAILED +/, "")
            if (length(check) < 400) check = check " | " $0
        }
        /^FAILED  [^ ]/ { # further to the right is what a game has printed in a test of another kind
            if (check != "") print check
            sub(/^FAILED  /, "")
            check = $0
        }
        END { if (check != "") print check }' "$(log_of "$label")")
    if [ "$named" -eq "$count" ]; then return; fi
    failures+=("failed: $label: ended with code $code; see its log")
    unset "command_of[$label]"
}

# Four runs share the machine, perhaps with others, and a test may lose to that what it keeps alone: a lease that ended
# because nothing ran for a second. So unless many failed, each is run again with none of ours beside it, twice if it
# must be. One that passes counts as passed, and is named at the end as unsteady, with what it said: it wants mending.
passes_alone() {
    local label=$1 name=$2 code attempt
    for attempt in 1 2; do
        code=0
        # shellcheck disable=SC2086 # the words are meant to be split
        ${command_of[$label]} "$name" > "$logs/again_${name}_$attempt.log" 2>&1 < /dev/null &
        own $!
        wait_for $! || code=$?
        disown_process $!
        if [ "$code" -eq 0 ]; then return 0; fi
    done
    return 1
}

try_again() {
    local i label rest name
    if [ ${#failures[@]} -gt $unsteady_max ]; then return; fi
    for i in "${!failures[@]}"; do
        rest=${failures[i]#failed: }
        label=${rest%%: *}
        name=${rest#*: }
        name=${name%% *}
        if [ -z "${command_of[$label]-}" ] || ! passes_alone "$label" "$name"; then continue; fi
        failures[i]="unsteady: $rest"
        passed=$((passed + 1))
        failed=$((failed - 1))
    done
}

# begin_stage LABEL TESTS COMMAND... -- the command's output ends with "N passed, N failed". TESTS is how many tests
# that is about, for the progress; 0 if it is quick.
begin_stage() {
    local label=$1 tests=$2
    shift 2
    "$@" > "$(log_of "$label")" 2>&1 < /dev/null &
    own $!
    labels+=("$label")
    commands_begun+=($!)
    tests_begun+=("$tests")
    begun_at+=("$SECONDS")
}

# No such line, or a failure that it does not account for, counts as one failed.
count_stage() {
    local label=$1 code=$2 seconds=$3 log counts here_passed=0 here_failed=0
    log=$(log_of "$label")
    counts=$(grep -a -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || true)
    if [ -n "$counts" ]; then
        here_passed=${counts%% *}
        here_failed=${counts#*, }
        here_failed=${here_failed%% *}
    fi
    if [ "$code" -ne 0 ] && [ "$here_failed" -eq 0 ]; then here_failed=1; fi
    if [ -z "$counts" ] || [ $((here_passed + here_failed)) -eq 0 ]; then here_failed=1; fi
    passed=$((passed + here_passed))
    failed=$((failed + here_failed))
    say "tests: $label: $here_passed passed, $here_failed failed ($seconds s)"
    sed -n 's/^note: /tests: /p' "$log"
    if [ "$here_failed" -gt 0 ]; then
        show_log "$log"
        note_failures "$label" "$code" "$here_failed"
    fi
}

end_stages() {
    local i code ticker
    while pause "$progress_pause_s"; do show_progress; done &
    ticker=$!
    own "$ticker"
    for i in "${!labels[@]}"; do
        code=0
        wait_for "${commands_begun[i]}" || code=$?
        disown_process "${commands_begun[i]}"
        count_stage "${labels[i]}" "$code" $((SECONDS - begun_at[i]))
    done
    end_process "$ticker"
    disown_process "$ticker"
    labels=()
    commands_begun=()
    tests_begun=()
    begun_at=()
}

stage() {
    local label=$1
    shift
    begin_stage "$label" 0 "$@"
    end_stages
}

# A build that fails is a failed stage.
try_build() {
    if build "$@"; then return 0; fi
    failed=$((failed + 1))
    failures+=("failed: build $*")
    say "tests: build $*: failed"
    return 1
}

# Builds the tests first: when a sample or a bench does not compile, its tests fail, but the others can still run.
try_build_all() { try_build "$@" guildhall guildhall_tests && { try_build "$@" || true; }; }

# begin_tests LABEL BINARY [ARGUMENT...]
begin_tests() {
    local label=$1 binary=$2
    shift 2
    command_of[$label]="${run_under[*]} $binary ${redis_option[*]}"
    begin_stage "$label" "$("$binary" --list "$@" | wc -l)" \
        ${run_under[@]+"${run_under[@]}"} "$binary" "${redis_option[@]}" "$@"
}
run_under=()

# begin_parts LABEL PARTS BINARY [ARGUMENT...] -- the largest ones mostly wait, so each is some processes beside each
# other.
begin_parts() {
    local label=$1 parts=$2 part
    shift 2
    for ((part = 1; part <= parts; part++)); do
        begin_tests "$label, part $part" "$@" --part "$part/$parts"
    done
}

# The debug binary cuts connections after every byte; those that run the same code once more, after each 13th.
sparse=(GUILDHALL_STRIDE=13)

# A test that starts whole Clusters of its own does the same in the build with sanitizers, which sees more.
begin_debug() {
    local once=()
    if $sanitize; then
        once=(--skip 'cluster.*' --skip 'cluster_managed.*' --skip 'cluster_rights.*' --skip 'cluster_told.*')
    fi
    begin_parts 'debug' 3 build/bin/debug/guildhall_tests --times "${once[@]}"
}

# What is a test of the tests' own fleets, or of what servers do to scripts while slots move, is the same in each build.
# A release has to do what a debug build does: with whole Clusters and Sentinels, it need not.
begin_release() {
    run_under=(env "${sparse[@]}")
    begin_parts 'release' 2 build/bin/release/guildhall_tests --times --skip fleets --skip cluster_half. \
        --skip tls_bytes. --skip cluster. --skip cluster_rights. --skip cluster_managed. --skip tls_cluster. \
        --skip tls_nodes. --skip sentinel. --skip _told. --skip rights. --skip garbage. --skip liars. \
        --skip migrating.
    run_under=()
}

begin_sanitized() {
    run_under=(env "${sparse[@]}" ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
        UBSAN_OPTIONS=print_stacktrace=1)
    begin_parts 'with sanitizers' 3 build/sanitize/bin/debug/guildhall_tests --times --skip fleets --skip cluster_half.
    run_under=()
}

# Clients speak TLS: what each system does, a lock that is cut anywhere, and links that come and go; in some 70 s.
through_tls=('lock.*' 'lock_faults.take_*' 'semaphore.*' 'mailbox.*' 'tasks.*' 'command.*' 'chat.*' 'rows.*' 'files.*'
    'guild.*' 'counters.*' 'contacts.*' 'reconnect.*' 'wake.*' 'detach.*')
begin_tls() {
    local redis_option=(--tls)
    run_under=(env "${sparse[@]}")
    begin_tests 'through TLS' build/bin/debug/guildhall_tests --times "${through_tls[@]}"
    run_under=()
}

# A fleet stands where a test asks for a server: what each system does, some of it cut anywhere.
with_fleets=('lock.*' 'lock_faults.take_*' 'semaphore.*' 'mailbox.*' 'tasks.*' 'command.*' 'chat.*' 'rows.*' 'files.*'
    'guild.*' 'counters.*' 'contacts.*' 'aggregate.*' 'wake.*' 'detach.*' 'after_shutdown.*' 'deadline.poll_*')
begin_fleets() {
    local redis_option=("--$1")
    run_under=(env "${sparse[@]}")
    begin_tests "$2" build/bin/debug/guildhall_tests --times "${with_fleets[@]}"
    run_under=()
}

# What each system does, what comes over the wire, and how clients stand; all the others by tests/suite.sh --valgrind.
with_valgrind=('base.*' 'wire.*' 'reader*' 'scan.*' 'flat.*' 'reply.*' 'columns.*' 'number.*' 'slot*' 'redirect.*'
    'fold.*' 'geo.*' 'time.*' 'format.*' 'bounds.*' 'names.*' 'borrowed.*' 'client.*' 'client_config.*' 'handshake.*'
    'reconnect.*' 'wake.*' 'detach.*' 'deadline.*' 'endings.*' 'after_shutdown.*' 'lease.*' 'lock.*' 'lock_set.*'
    'semaphore.*' 'tasks.*' 'tasks_worker.*' 'mailbox.*' 'mailbox_bodies.*' 'chat.*' 'chat_feed.*' 'contacts.*'
    'guild.*' 'counters.*' 'rows.*' 'rows_refresh.*' 'files.*' 'aggregate.*' 'command.*' 'command_once.*'
    'command_script.*' 'replicas.*' 'cluster_maps.*' 'cluster_lies.*' 'cluster_words.*' 'sentinel_lies.*')
begin_valgrind() {
    run_under=("${under_valgrind[@]}")
    begin_parts 'under valgrind' 2 build/bin/debug/guildhall_tests --times "${not_under_valgrind[@]}" \
        "${with_valgrind[@]}"
    run_under=()
}

# --- the run ---------------------------------------------------------------------------------------------------------

cd "$root"
mkdir -p "$logs"
export GUILDHALL_HANG_SECONDS=${GUILDHALL_HANG_SECONDS:-360} # of a single test, beside a dozen other processes

if [ ${#filters[@]} -gt 0 ]; then
    setup build redis test sample
    if try_build_all debug; then
        run_in_front build/bin/debug/guildhall_tests "${redis_option[@]}" "${filters[@]}"
        exit
    fi
    say "0 passed, $failed failed"
    exit 1
fi

setup build redis test sample bench browser
begin_stage 'the tree' 0 ./tests/checks/check_tree.sh
begin_stage 'includes' 0 ./tests/checks/check_includes.sh
begin_stage 'scripts' 0 ./tests/checks/check_scripts.sh
end_stages

# Everything is built before anything runs that waits with a time limit. The tests mostly wait, so all runs share the
# machine. Which tests took longest stands at the end of each log.
debug=false release=false sanitize=false
if try_build_all debug; then debug=true; fi
if ! $quick && try_build_all release; then release=true; fi
if ! $quick && try_build_all --sanitize debug; then sanitize=true; fi

if $debug; then
    stage 'headers alone' ./tests/checks/check_headers.sh
    stage 'the API as data' ./tests/checks/check_api.sh
    stage 'newcomers' ./tests/checks/check_newcomer.sh
    begin_debug
fi
if $release; then begin_release; fi
if $sanitize; then begin_sanitized; fi
if $debug && ! $quick; then begin_valgrind; fi
if $debug && ! $quick && [ -f build/bin/debug/libguildhall_tls.a ]; then begin_tls; fi
if $debug && ! $quick; then begin_fleets cluster 'on a Cluster'; fi
if $debug && ! $quick; then begin_fleets sentinel 'behind Sentinels'; fi
end_stages
try_again

if $release; then stage 'the library' ./tests/checks/check_library.sh; fi
if $release; then stage 'the bench' ./tests/checks/check_bench.sh; fi
if $debug && ! $quick; then stage 'mbedTLS from its sources' ./tests/checks/check_mbedtls.sh; fi
if $debug && ! $quick; then stage 'gdb' ./tests/checks/check_gdb.sh; fi
# README's commands mostly wait, for up to two minutes; what only compiles takes what they leave.
if ! $quick; then begin_stage 'README' 0 ./tests/checks/check_readme.sh; fi
if $release; then begin_stage 'two files' 0 nice -n 19 ./tests/checks/check_amalgamation.sh; fi
if $release; then begin_stage 'CMake' 0 nice -n 19 ./tests/checks/check_cmake.sh; fi
if $release; then begin_stage 'one file' 0 nice -n 19 ./tests/checks/check_bundle.sh; fi
if $debug && ! $quick; then begin_stage 'without zlib' 0 nice -n 19 ./tests/checks/check_no_zlib.sh; fi
if $debug && ! $quick; then begin_stage 'the process' 0 nice -n 19 ./tests/checks/check_process.sh; fi
end_stages

if [ ${#failures[@]} -gt 0 ]; then printf '%s\n' "${failures[@]}"; fi
say "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
