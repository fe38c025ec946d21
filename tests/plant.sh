#!/usr/bin/env bash
# tests/plant.sh -- plants faults, one after the other: those that were mended, and mistakes that somebody might make.
# Sees that each is caught, and tells by what and after how much. The last line is "N passed, N failed".
#
#   ./tests/plant.sh [--list] [--simulator|--tests|--storm] [--runs N] [--jobs N] [--quick] [NAME...]
#
#   --list       print the names instead
#   --simulator  only those whose file has a line for the simulator, which has to find them
#   --tests      the tests have to catch them: those whose file names some
#   --storm      storms of 30 s have to catch them, within ten minutes each: those whose file has a line for it
#   --runs N     the simulator has so many runs for each: 10000 without it, at most 100000
#   --jobs N     so many runs at once; as many as there are processors without it
#   --quick      six of the mistakes, those with the number 0, that the simulator has to find in 500 runs each
#   NAME...      only the files of tests/planted whose name contains it
#
# Without --simulator, --tests and --storm, the simulator has to find each whose file has a line for it, and the tests
# have to catch the others. What the simulator finds has to be fine without the fault, in the run of the same seed; and
# so have the tests.
#
# tests/planted/README.md tells what such a file looks like. All of it happens in a copy of the tree that is
# gone afterwards.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/checks/check.sh"

folder=$root/tests/planted
hang_seconds=150
storms_max=20 # of one fault
storm_seconds=30
runs_most=100000
runs=10000
jobs=$(processors)
list_only=false
quick=0 # so many files at most; 0: all
by=     # simulator, tests, storm; empty: as the file says
wanted=()

number_behind() {
    if ! [[ ${2-} =~ ^[1-9][0-9]{0,5}$ ]] || [ "$2" -gt "$3" ]; then fail "$1 wants a number from 1 to $3"; fi
    say "$2"
}

while [ $# -gt 0 ]; do
    case $1 in
    --list) list_only=true ;;
    --simulator | --tests | --storm) by=${1#--} ;;
    --runs)
        runs=$(number_behind "$1" "${2-}" "$runs_most")
        shift
        ;;
    --jobs)
        jobs=$(number_behind "$1" "${2-}" 64)
        shift
        ;;
    --quick) quick=6 runs=500 by=simulator wanted+=(00_) ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    -*) fail "tests/plant.sh does not know $1" ;;
    *) wanted+=("$1") ;;
    esac
    shift
done

# --- the files -------------------------------------------------------------------------------------------------------

is_wanted() {
    local part
    if [ ${#wanted[@]} -eq 0 ]; then return 0; fi
    for part in "${wanted[@]}"; do if [[ $1 == *"$part"* ]]; then return 0; fi; done
    return 1
}

# In its head, which comes before the first file.
has_line() {
    local line
    while IFS= read -r line; do
        case $line in
        "$2 "*) return 0 ;;
        file\ *) return 1 ;;
        esac
    done < "$folder/$1.txt"
    return 1
}

# The way of which a file is to be caught.
way_of() {
    local name=$1
    case $by in
    '') if has_line "$name" simulate; then say simulator; else say tests; fi ;;
    simulator) if has_line "$name" simulate; then say simulator; fi ;;
    tests) if has_line "$name" test; then say tests; fi ;;
    storm) if has_line "$name" storm; then say storm; fi ;;
    esac
}

names() {
    local file name
    for file in "$folder"/*.txt; do
        name=${file##*/}
        name=${name%.txt}
        if ! [ -f "$file" ] || ! is_wanted "$name"; then continue; fi
        if [ -n "$(way_of "$name")" ]; then say "$name"; fi
    done
}

# With --quick, some of them, from all over.
some_of() {
    local i count=$#
    if [ "$quick" -eq 0 ] || [ "$count" -le "$quick" ]; then
        printf '%s\n' "$@"
        return
    fi
    for ((i = 0; i < quick; i++)); do
        say "${@:1 + i * count / quick:1}"
    done
}

# What a file says: title, tests, options for storms and for the simulator, and by number of its parts the path, the
# text that stands there, and the other one.
title=
tests=()
storm=()
simulate=()
paths=()
goods=()
planteds=()

# Fails for a line that does not belong where it stands. The texts are kept without their last line feed.
read_planted() {
    local line at=head good= planted=
    title= tests=() storm=() simulate=() paths=() goods=() planteds=()
    while IFS= read -r line || [ -n "$line" ]; do
        case $at:$line in
        head:fault\ *) title=$line ;;
        head:test\ *) read -r -a tests <<< "${line#test }" ;;
        head:storm\ *) read -r -a storm <<< "${line#storm }" ;;
        head:simulate\ *) read -r -a simulate <<< "${line#simulate }" ;;
        head:file\ *) paths+=("${line#file }") at=file ;;
        file:---\ good) good= at=good ;;
        good:---\ planted) planted= at=planted ;;
        planted:---\ end) goods+=("${good%$'\n'}") planteds+=("${planted%$'\n'}") at=head ;;
        good:*) good+=$line$'\n' ;;
        planted:*) planted+=$line$'\n' ;;
        *)
            say "this line has no place: $line"
            return 1
            ;;
        esac
    done < "$folder/$1.txt"
    if [ "$at" != head ] || [ -z "$title" ] || [ ${#goods[@]} -eq 0 ] ||
        [ $((${#tests[@]} + ${#simulate[@]})) -eq 0 ]; then
        say 'a part is missing'
        return 1
    fi
}

# --- the copy of the tree --------------------------------------------------------------------------------------------

# What is built for each way: its configuration, and its targets behind the program.
config_of() { if [ "$1" = simulator ]; then say release; else say debug; fi; }
targets_of() {
    case $1 in
    simulator) say guildhall_simulator guildhall guildhall_embedded ;;
    tests) say guildhall_tests guildhall ;;
    storm) say guildhall_storm guildhall ;;
    esac
}

build_for() {
    local targets
    read -r -a targets <<< "$(targets_of "$1")"
    build "$(config_of "$1")" "${targets[@]}"
}

# With what was built, and the times of all files, so that make finds nothing to do at first.
copy_tree() {
    local part
    tree=$scratch/tree
    mkdir -p "$tree/build"
    copy_sources "$tree"
    cp -a "$root"/build/*.make "$root/build/Makefile" "$root/build/generated" "$tree/build/"
    for part in "$@"; do copy_built "$part"; done
}

copy_built() {
    local config targets part built
    config=$(config_of "$1")
    read -r -a targets <<< "$(targets_of "$1")"
    mkdir -p "$tree/build/bin/$config"
    for part in "${targets[@]}"; do
        mkdir -p "$tree/build/obj/$part"
        cp -a "$root/build/obj/$part/$config" "$tree/build/obj/$part/"
        for built in "$root/build/bin/$config/"{lib"$part".a,"$part"}; do
            if [ -f "$built" ]; then cp -a "$built" "$tree/build/bin/$config/"; fi
        done
    done
}

# Scripts reach the library by premake.
scripts_changed=false
build_copy() {
    local targets
    read -r -a targets <<< "$(targets_of "$1")"
    if $scripts_changed; then
        (root=$tree && run_premake gmake) > "$scratch/build.log" 2>&1 || return 1
        scripts_changed=false
    fi
    run_logged "$scratch/build.log" true make -s -C "$tree/build" config="$(config_of "$1")" -j "$(processors)" \
        "${targets[@]}"
}

# Text in place of another one that must be there once. Whatever is written is newer than what was made of it.
replace() {
    local path=$tree/$1 good=$2 planted=$3 text rest
    if [ ! -f "$path" ]; then
        say "there is no $1"
        return 1
    fi
    IFS= read -r -d '' text < "$path" || true
    rest=${text#*"$good"}
    if [ -z "$good" ] || [ "$rest" = "$text" ] || [[ $rest == *"$good"* ]]; then
        say "does not apply: the text must be in $1 once"
        return 1
    fi
    printf '%s' "${text%"$good$rest"}$planted$rest" > "$path"
    if [[ $1 == *.lua ]]; then scripts_changed=true; fi
}

put_back() {
    local path
    for path in "${paths[@]}"; do
        if [ -f "$root/$path" ]; then cp "$root/$path" "$tree/$path"; fi
        if [[ $path == *.lua ]]; then scripts_changed=true; fi
    done
}

plant() {
    local i
    for i in "${!paths[@]}"; do replace "${paths[i]}" "${goods[i]}" "${planteds[i]}" || return 1; done
}

# --- the tests -------------------------------------------------------------------------------------------------------

# A pattern that fits one name alone, and the tests that have it; or "file.*" as it is.
only() { printf '[%s]%s' "${1:0:1}" "${1:1}"; }

must_exist() {
    local name
    for name in "${tests[@]}"; do
        if ! "$root/build/bin/debug/guildhall_tests" --list "$(only "$name")" > /dev/null 2>&1; then
            say "there is no test $name"
            return 1
        fi
    done
}

# 0: all passed. Whatever else, a crash too, is a failure of theirs; what they said is in tests.log.
run_tests() {
    local patterns=() name
    for name in "${tests[@]}"; do patterns+=("$(only "$name")"); done
    GUILDHALL_HANG_SECONDS=$hang_seconds run_logged "$scratch/tests.log" true \
        "${leash[@]}" "$1/build/bin/debug/guildhall_tests" "${patterns[@]}"
}

# A crash names none.
failed_tests() {
    local names
    names=$(sed -n 's/^\[  FAILED  \] \([a-z0-9_]*\.[a-z0-9_]*\)$/\1/p' "$scratch/tests.log" | sort -u | tr '\n' ' ')
    say "${names:-they did not come to their end}"
}

plant_and_build() {
    plant || return 1
    if ! build_copy "$1"; then
        say 'does not build:'
        tail -n 20 "$scratch/build.log"
        return 1
    fi
}

caught_by= # what saw it, and after how much
try_tests() {
    local begin
    read_planted "$1" && must_exist || return 1
    if ! run_tests "$root"; then
        say 'the tests fail without it, too:'
        tail -n 20 "$scratch/tests.log"
        return 1
    fi
    plant_and_build tests || return 1
    begin=$SECONDS
    if run_tests "$tree"; then
        say 'NOT CAUGHT'
        return 1
    fi
    caught_by="by the tests, $((SECONDS - begin)) s: $(failed_tests)"
}

# --- the simulator ---------------------------------------------------------------------------------------------------

run_simulator() {
    local log=$1 program=$2/build/bin/release/guildhall_simulator
    shift 2
    run_logged "$log" true "${leash[@]}" "$program" --jobs "$jobs" --first-failure "$@"
}

# The first run that fails and does not without the fault. Those that fail anyway are told, and passed over.
try_simulator() {
    local first=1 seed said also=
    read_planted "$1" && plant_and_build simulator || return 1
    while [ "$first" -le "$runs" ]; do
        run_simulator "$scratch/simulator.log" "$tree" --seeds "$first..$runs" "${simulate[@]}" || true
        said=$(tail -n 1 "$scratch/simulator.log")
        seed=$(sed -n 's/^run [0-9]* failed, of seed \([0-9]*\): .*/\1/p' <<< "$said")
        if [ -z "$seed" ]; then break; fi
        if run_simulator "$scratch/without.log" "$root" "${simulate[@]}" --seeds "$seed..$seed"; then
            caught_by="by the simulator, run $seed: ${said#*: }$also"
            return 0
        fi
        also+="; run $seed fails without it, too"
        first=$((seed + 1))
    done
    say "NOT CAUGHT: ${said:-the simulator says nothing}$also"
    return 1
}

# --- storms ----------------------------------------------------------------------------------------------------------

# A storm that breaks off has seen nothing: what counts is a promise that it says was broken, or a process that died.
try_storm() {
    local seed broken
    read_planted "$1" && plant_and_build storm || return 1
    for ((storm_count = 1; storm_count <= storms_max; storm_count++)); do
        seed=$((RANDOM * 32768 + RANDOM + 1))
        run_logged "$scratch/storm.log" true "${leash[@]}" "$tree/build/bin/debug/guildhall_storm" --seed "$seed" \
            --seconds "$storm_seconds" "${storm[@]}" || true
        broken=$(sed -n 's/^  FAILED *[0-9]* cases *//p' "$scratch/storm.log" | head -n 1)
        if [ -n "$broken" ]; then
            caught_by="by storm $storm_count, of seed $seed: $broken"
            return 0
        fi
    done
    say "NOT CAUGHT in $storms_max storms"
    return 1
}

# --- all of them -----------------------------------------------------------------------------------------------------

# What is said goes into a file, because the functions are to change this shell's variables.
catch() {
    local name=$1 code=0
    caught_by=
    "try_$(way_of "$name")" "$name" > "$scratch/said" || code=$?
    put_back
    if [ "$code" -ne 0 ]; then
        check_failed "$name" "$(cat "$scratch/said")"
        return
    fi
    check_passed "caught: $name: $caught_by"
}

mapfile -t chosen < <(names)
if [ ${#chosen[@]} -eq 0 ]; then fail 'no file of tests/planted has a name like that'; fi
mapfile -t chosen < <(some_of "${chosen[@]}")
if $list_only; then
    printf '%s\n' "${chosen[@]}"
    exit 0
fi
mapfile -t ways < <(for name in "${chosen[@]}"; do way_of "$name"; done | sort -u)
for way in "${ways[@]}"; do build_for "$way"; done
make_scratch
copy_tree "${ways[@]}"
for name in "${chosen[@]}"; do catch "$name"; done
check_summary
