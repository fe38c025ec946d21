#!/usr/bin/env bash
# tests/fuzz/planted.sh -- plants a fault for each target of tests/fuzz.sh, one after the other, and sees that the
# target finds it: so each of them can fail. The last line is "N passed, N failed".
#
#   ./tests/fuzz/planted.sh [--seconds N] [TARGET...]
#
#   --seconds N   how long a target may take; 120 without it
#
# What is planted stands in tests/fuzz/planted, in the form of tests/planted/README.md, with "target" in place of
# "test". All of it happens in a copy of the tree that is gone afterwards. A target begins with its seeds and with what
# it knows from earlier runs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../checks/check.sh"

seconds=120
wanted=()
while [ $# -gt 0 ]; do
    case $1 in
    --seconds)
        if [ $# -lt 2 ]; then fail '--seconds wants a number'; fi
        seconds=$2
        shift
        ;;
    -h | --help)
        show_usage
        exit 0
        ;;
    -*) fail "tests/fuzz/planted.sh does not know $1" ;;
    *) wanted+=("$1") ;;
    esac
    shift
done

# Replaces the good text of each part by the planted one, and prints the files that have changed.
plant() {
    awk -v RS='\001' -v tree="$tree" '
        function read_all(path,    text, line) {
            RS = "\001"
            getline text < path
            close(path)
            return text
        }
        {
            rest = $0
            while (match(rest, /(^|\n)file [^\n]+\n/)) {
                path = substr(rest, RSTART, RLENGTH)
                gsub(/^\n*file |\n$/, "", path)
                rest = substr(rest, RSTART + RLENGTH)
                begin = index(rest, "--- good\n") + 9
                middle = index(rest, "\n--- planted\n")
                end = index(rest, "\n--- end\n")
                good = substr(rest, begin, middle - begin)
                bad = end > middle + 12 ? substr(rest, middle + 13, end - middle - 13) : ""
                rest = substr(rest, end + 8)
                text = read_all(tree "/" path)
                at = index(text, good)
                if (at == 0 || index(substr(text, at + 1), good) > 0) {
                    print "does not apply to " path > "/dev/stderr"
                    exit 1
                }
                printf "%s%s%s", substr(text, 1, at - 1), bad, substr(text, at + length(good)) > (tree "/" path)
                close(tree "/" path)
                print path
            }
        }' "$root/tests/fuzz/planted/$1.txt"
}

copy_tree() {
    local part
    tree=$scratch/tree
    mkdir -p "$tree/build/fuzz"
    copy_sources "$tree"
    for part in obj corpus libguildhall.a libshared.a; do
        if [ -e "$root/build/fuzz/$part" ]; then cp -a "$root/build/fuzz/$part" "$tree/build/fuzz/"; fi
    done
}

# Of what is generated, the files that are as they were keep their times, and with those all that was made of them.
for_each_generated() { # COMMAND, with the two paths of each file
    local path
    (cd "$root" && find sdk/generated -type f) | while read -r path; do "$1" "$root/$path" "$tree/$path"; done
}
keep_time() { if cmp -s "$1" "$2"; then touch -r "$1" "$2"; fi; }
copy_changed() { if ! cmp -s "$1" "$2"; then cp "$1" "$2"; fi; }

# Scripts reach the library by premake.
build_target() {
    if grep -q '\.lua$' "$scratch/changed"; then
        (root=$tree && run_premake generate) > "$scratch/log" 2>&1 || return 1
        for_each_generated keep_time
    fi
    run_logged "$scratch/log" true make -s -C "$tree" -f tests/fuzz/fuzz.mk -j "$(processors)" "build/fuzz/bin/$1"
}

# It must fail within its time, and not only because it cannot be built.
finds() {
    local target=$1 log=$scratch/found
    plant "$target" > "$scratch/changed" || return 1
    if ! build_target "$target"; then
        cat "$scratch/log"
        return 1
    fi
    if (cd "$tree" && bash tests/fuzz.sh --target "$target" --seconds "$seconds") > "$log" 2>&1; then
        say "it was not found within $seconds s"
        return 1
    fi
    grep -q '^FAILED ' "$log" || { cat "$log"; return 1; }
    sed -n '/^FAILED /,$p' "$log" | head -n 2
}

restore() {
    local path
    while read -r path; do
        cp "$root/$path" "$tree/$path" # its time is newer than what was built, so that is made anew
        if [[ $path == *.lua ]]; then for_each_generated copy_changed; fi
    done < "$scratch/changed"
}

setup build fuzz lua
if [ ${#wanted[@]} -eq 0 ]; then
    for file in tests/fuzz/planted/*.txt; do wanted+=("$(basename "$file" .txt)"); done
fi
./tests/fuzz.sh --target "${wanted[0]}" --runs 1 > /dev/null # builds what the copy begins with
make_scratch
copy_tree
for target in "${wanted[@]}"; do
    check "$target: $(sed -n 's/^fault //p' "tests/fuzz/planted/$target.txt")" finds "$target"
    restore
done
check_summary
