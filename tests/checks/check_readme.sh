#!/usr/bin/env bash
# check_readme.sh -- what README.md says is true: its commands run, in a copy of the tree, and the program that it shows
# is samples/quickstart.c, which runs.
#
# Commands are the lines of the ```sh blocks, each block in a shell of its own. What takes long is shortened and what
# needs another machine is left out, both by the rules in fitted.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

quickstart_lines_max=60

# The blocks of a language, a file each: FOLDER/LANGUAGE.1, FOLDER/LANGUAGE.2, ...
extract_blocks() {
    awk -v language="$1" -v prefix="$2/$1." '
        /^ *```/ && state != "" { state = ""; next }
        /^ *```/ {
            sub(/^ *```/, "")
            state = $0 == language ? "wanted" : "other"
            if (state == "wanted") { count++; file = prefix count }
            next
        }
        state == "wanted" { print > file }' README.md
}

# The tree with its builds, so that the commands find work to do and little to compile. Other checks write beside them
# meanwhile, of which tar tells with a 1.
copy_tree() {
    mkdir "$1"
    { tar -c --exclude=./.git --exclude=./build/.lock --exclude=./build/logs --exclude=./build/bench \
        --exclude=./build/amalgamated --exclude=./build/sanitize . || [ $? -eq 1 ]; } | tar -x -C "$1"
}

# Reads a block, writes what can be run here.
fitted() {
    local premake='premake5'
    if ! command -v premake5 > /dev/null; then premake='premake4 --file=premake5.lua'; fi
    sed -E \
        -e '/^ *(git clone|cd |sudo |apt|brew |\.?\/?\.ci\/run|\.\/tests\/lint\.sh|redis-server |valkey-server )/d' \
        -e '/^ *premake5 (vs|xcode)/d' \
        -e 's/ +#.*$//' \
        -e "s/^( *)premake5 /\1$premake /" \
        -e "s#(unix:[^ ]+|([0-9]{1,3}\.){3}[0-9]{1,3}:[0-9]+|[a-z.]+:6379)#$redis_address#g" \
        -e 's#^( *\./samples/run\.sh .*)--bots [0-9]+#\1--bots 50#' \
        -e 's#^( *\./samples/run\.sh .*) --page [0-9]+#\1#' \
        -e 's#^( *\./samples/run\.sh)( --seconds [0-9]+)?$#\1 --seconds 5#' \
        -e 's#^( *\./samples/run\.sh .*--seconds) [0-9]+#\1 5#' \
        -e 's#^( *\./samples/run\.sh)( --(redis|bots) .*)$#\1 --seconds 5\2#' \
        -e 's#^( *\./tests/run\.sh)( --quick)?$#\1 platform#' \
        -e 's#^( *\./bench/run\.sh).*$#\1 --quick --only memory#' \
        -e 's#^( *\./tests/storm\.sh).*$#\1 --seconds 3 --systems lock#'
}

# make, also below CMake, uses all processors, which the commands do not ask for.
run_block() {
    (cd "$scratch/tree" && MAKEFLAGS=-j$(processors) bash -e -u -o pipefail -x "$1" < /dev/null)
}

shows_quickstart() {
    local block
    for block in "$scratch"/blocks/c.*; do
        if [ -f "$block" ] && cmp -s "$block" samples/quickstart.c; then return 0; fi
    done
    say 'no ```c block of README.md equals samples/quickstart.c'
    return 1
}

quickstart_is_short() {
    local lines
    lines=$(wc -l < samples/quickstart.c)
    say "$lines lines"
    [ "$lines" -le "$quickstart_lines_max" ]
}

quickstart_runs() {
    local output
    output=$(./samples/run.sh --sample quickstart --redis "$redis_address") || return 1
    say "$output"
    grep -q 'got the lock' <<< "$output" && grep -q 'gave it back' <<< "$output"
}

linked_files_missing() {
    grep -o -E '\]\([^)#]+' README.md | sed 's/^](//' | grep -v -E '^[a-z]+:' | while read -r path; do
        [ -e "$path" ] || echo "$path"
    done
}

check 'there is a README.md' test -s README.md
if [ ! -s README.md ]; then
    check_summary
    exit
fi

make_scratch
mkdir "$scratch/blocks"
extract_blocks sh "$scratch/blocks"
extract_blocks c "$scratch/blocks"
start_redis
copy_tree "$scratch/tree"

check 'README.md shows samples/quickstart.c' shows_quickstart
check "the quickstart has at most $quickstart_lines_max lines" quickstart_is_short
check 'the quickstart runs' quickstart_runs
check_nothing 'files that README.md links to are there' linked_files_missing
check 'README.md has commands' test -f "$scratch/blocks/sh.1"
for ((i = 1; ; i++)); do
    block=$scratch/blocks/sh.$i
    if [ ! -f "$block" ]; then break; fi
    fitted < "$block" > "$block.fitted"
    if grep -q '[^ ]' "$block.fitted"; then check "commands: $(head -n 1 "$block")" run_block "$block.fitted"; fi
done
check_summary
