#!/usr/bin/env bash
# tests/planted.sh -- puts faults that were mended back, one after the other, and sees that the tests catch each. The
# last line is "N passed, N failed".
#
#   ./tests/planted.sh [--list] [--storm] [NAME...]
#
#   --list   print the names instead
#   --storm  storms of 30 s have to catch them, within ten minutes each: those whose file has a line for it
#   NAME...  only the files of tests/planted whose name contains it
#
# tests/planted/README.md tells what such a file looks like. All of it happens in a copy of the tree that is
# gone afterwards.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/checks/check.sh"

folder=$root/tests/planted
hang_seconds=60
storms_max=20 # of one fault
storm_seconds=30
list_only=false
by_storm=false
wanted=()

for word in "$@"; do
    case $word in
    --list) list_only=true ;;
    --storm) by_storm=true ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    -*) fail "tests/planted.sh does not know $word" ;;
    *) wanted+=("$word") ;;
    esac
done

# --- the files -------------------------------------------------------------------------------------------------------

is_wanted() {
    local part
    if [ ${#wanted[@]} -eq 0 ]; then return 0; fi
    for part in "${wanted[@]}"; do if [[ $1 == *"$part"* ]]; then return 0; fi; done
    return 1
}

names() {
    local file name
    for file in "$folder"/*.txt; do
        name=$(basename "$file" .txt)
        if ! [ -f "$file" ] || ! is_wanted "$name"; then continue; fi
        if ! $by_storm || grep -q '^storm ' "$file"; then say "$name"; fi
    done
}

# What a file says: title, tests, and by number of its parts the path, the text that stands there, and the other one.
title=
tests=()
storm=()
paths=()
goods=()
planteds=()

# Fails for a line that does not belong where it stands. The texts are kept without their last line feed.
read_planted() {
    local line at=head good= planted=
    title= tests=() storm=() paths=() goods=() planteds=()
    while IFS= read -r line || [ -n "$line" ]; do
        case $at:$line in
        head:fault\ *) title=$line ;;
        head:test\ *) read -r -a tests <<< "${line#test }" ;;
        head:storm\ *) read -r -a storm <<< "${line#storm }" ;;
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
    if [ "$at" != head ] || [ -z "$title" ] || [ ${#tests[@]} -eq 0 ] || [ ${#goods[@]} -eq 0 ]; then
        say 'a part is missing'
        return 1
    fi
}

# --- the copy of the tree --------------------------------------------------------------------------------------------

# With what was built, and the times of all files, so that make finds nothing to do at first.
copy_tree() {
    local part
    tree=$scratch/tree
    mkdir -p "$tree/build/obj" "$tree/build/bin/debug"
    for part in "$root"/*; do
        if [ "$(basename "$part")" != build ]; then cp -a "$part" "$tree/"; fi
    done
    cp -a "$root"/build/*.make "$root/build/Makefile" "$root/build/generated" "$tree/build/"
    for part in guildhall "$program"; do
        mkdir -p "$tree/build/obj/$part"
        cp -a "$root/build/obj/$part/debug" "$tree/build/obj/$part/"
    done
    cp -a "$root/build/bin/debug/libguildhall.a" "$root/build/bin/debug/$program" "$tree/build/bin/debug/"
}

# Scripts reach the library by premake.
scripts_changed=false
build_copy() {
    if $scripts_changed; then
        (root=$tree && run_premake gmake) > "$scratch/build.log" 2>&1 || return 1
        scripts_changed=false
    fi
    run_logged "$scratch/build.log" true make -s -C "$tree/build" config=debug -j "$(processors)" guildhall \
        "$program"
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

plant_and_build() {
    plant || return 1
    if ! build_copy; then
        say 'does not build:'
        tail -n 20 "$scratch/build.log"
        return 1
    fi
}

try_planted() {
    read_planted "$1" && must_exist || return 1
    if ! run_tests "$root"; then
        say 'the tests fail without it, too:'
        tail -n 20 "$scratch/tests.log"
        return 1
    fi
    plant_and_build || return 1
    if run_tests "$tree"; then
        say 'NOT CAUGHT'
        return 1
    fi
}

# A storm that breaks off has seen nothing: what counts is a promise that it says was broken, or a process that died.
caught_by= # which storm it was, and what it saw
try_storms() {
    local seed broken
    caught_by=
    read_planted "$1" && plant_and_build || return 1
    for ((storm_count = 1; storm_count <= storms_max; storm_count++)); do
        seed=$((RANDOM * 32768 + RANDOM + 1))
        run_logged "$scratch/storm.log" true "${leash[@]}" "$tree/build/bin/debug/$program" --seed "$seed" \
            --seconds "$storm_seconds" "${storm[@]}" || true
        broken=$(sed -n 's/^  FAILED *[0-9]* cases *//p' "$scratch/storm.log" | head -n 1)
        if [ -n "$broken" ]; then
            caught_by=": storm $storm_count, of seed $seed: $broken"
            return 0
        fi
    done
    say "NOT CAUGHT in $storms_max storms"
    return 1
}

# What is said goes into a file, because the functions are to change this shell's variables.
catch() {
    local name=$1 code=0
    "$try" "$name" > "$scratch/said" || code=$?
    put_back
    if [ "$code" -ne 0 ]; then
        check_failed "$name" "$(cat "$scratch/said")"
        return
    fi
    check_passed "caught: $name$caught_by"
}

try=try_planted
program=guildhall_tests
if $by_storm; then
    try=try_storms
    program=guildhall_storm
fi

mapfile -t chosen < <(names)
if [ ${#chosen[@]} -eq 0 ]; then fail 'no file of tests/planted has a name like that'; fi
if $list_only; then
    printf '%s\n' "${chosen[@]}"
    exit 0
fi
build debug guildhall "$program"
make_scratch
copy_tree
for name in "${chosen[@]}"; do catch "$name"; done
check_summary
