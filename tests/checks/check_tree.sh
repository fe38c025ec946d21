#!/usr/bin/env bash
# check_tree.sh -- the tree is in order: nothing left to do in it, nothing of one machine, no file that grew too long.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

lines_max=700
columns_max=120
function_lines_max=45 # in the SDK: what fits a screen

# What belongs to the project: what git has or would take, or everything but build/ where there is no git.
tree_files() {
    if ! git -c safe.directory='*' ls-files --cached --others --exclude-standard 2> /dev/null; then
        find . -type f -not -path './build/*' -not -path './.git/*' | sed 's|^\./||'
    fi | sort -u | while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done
}
make_scratch
tree_files > "$scratch/files"
texts() { grep -v -E '^tests/fuzz/seeds/' "$scratch/files"; } # seeds are any bytes
mapfile -t files < "$scratch/files"

# The words are put together here, so that this file does not have them.
unfinished_words() { grep -n -w -E -e "TO""DO|FIX""ME|XX""X|HA""CK|TB""D|W""IP" -- "${files[@]}"; }
hollow_words() { grep -n -w -i -E -e "st""ubs?|placeh""olders?|lorem ips""um" -- "${files[@]}"; }

# Paths of somebody's machine. /tmp and /usr are everybody's.
machine_paths() { grep -n -E -e '(^|[^A-Za-z0-9_.-])/(work|home|root|Users|mnt|workspace)/' -- "${files[@]}"; }

long_files() {
    printf '%s\n' "${files[@]}" | grep -v '\.md$' | xargs -d '\n' wc -l -- |
        awk -v most=$lines_max '$2 != "total" && $1 > most { print $2 ": " $1 " lines" }'
}

# Characters are counted, in any locale: those bytes that go on with a character of UTF-8 are left out.
long_lines() {
    grep -E '\.(c|h|cpp|hpp|lua|sh)$|^\.ci/run$' "$scratch/files" |
        LC_ALL=C xargs -d '\n' awk -v most=$columns_max '
            { line = $0; gsub(/[\200-\277]/, "", line) }
            length(line) > most { print FILENAME ":" FNR ": " length(line) " columns" }'
}

long_functions() {
    grep -E '^(sdk/src|platform)/.*\.c$' "$scratch/files" | xargs -d '\n' awk -v most=$function_lines_max '
        FNR == 1 { begun = 0 }
        $0 == "{" { begun = FNR; name = before }
        $0 == "}" && begun {
            if (FNR - begun - 1 > most) print FILENAME ": " FNR - begun - 1 " lines: " name
            begun = 0
        }
        { before = $0 }'
}

# What a text is put together in is as large as its parts, each of them by its name: a bare number forgets one of them.
# Three bytes are seen at a glance.
sizes_without_names() {
    grep -E '^sdk/src/.*\.[ch]$' "$scratch/files" |
        xargs -d '\n' grep -n -E -e '^ +char [a-z_]+\[[0-9 +*]+\]' -- | grep -v -E '\[[1-3]\]'
}

untidy_lines() {
    local carriage_return=$'\r' tab=$'\t'
    texts | xargs -d '\n' grep -n -I -e "$carriage_return\$" -e ' $' --
    printf '%s\n' "${files[@]}" | grep -E '\.(c|h|cpp|hpp|lua|sh)$' | xargs -d '\n' grep -n -e "$tab"
}

no_last_newline() {
    local file
    texts | while read -r file; do
        if [ -s "$file" ] && [ "$(tail -c 1 "$file" | wc -l)" -eq 0 ]; then echo "$file"; fi
    done
}

strange_top_entries() {
    cut -d / -f 1 "$scratch/files" | sort -u |
        grep -v -x -E -e 'sdk|platform|samples|bench|tests|premake5\.lua|CMakeLists\.txt' \
            -e '(README|CHANGELOG|CONTRIBUTING)\.md|LICENSE|\..+'
}

generated_files() { grep -E '(^|/)(build|obj|bin)/|\.(o|a|so|d|exe|dll|log|orig|rej|swp)$' "$scratch/files"; }

not_executable() {
    local file
    local programs='/(run|lint|setup|plant|coverage|garbage|writers|storm|failovers|fleet|fuzz|portability)\.sh$'
    programs+='|/check_[a-z]+\.sh$|^\.ci/run$'
    grep -E "$programs" "$scratch/files" | while read -r file; do
        [ -x "$file" ] || echo "$file"
    done
}

header_guards() {
    local file
    grep -E '^(sdk|platform|tests|bench|samples)/.*\.h$' "$scratch/files" | while read -r file; do
        grep -q -E '^#ifndef [A-Z0-9_]+_H$' "$file" || echo "$file"
    done
}

# Every header, and every source that is not a test, begins by saying what it is: "/* name.c -- ...". What a test file
# is about stands in its first line, too.
nameless_files() {
    local file
    grep -E '\.h$|^(sdk|platform|tests/support)/.*\.c$' "$scratch/files" | grep -v '/test_' | while read -r file; do
        head -n 1 "$file" | grep -q -F "$(basename "$file") -- " || echo "$file"
    done
    grep -E '^tests/.*/test_[^/]*\.c$' "$scratch/files" | while read -r file; do
        head -n 1 "$file" | grep -q -E '^/\* .' || echo "$file"
    done
}

# Versions differ in what they make of one file, so it is this one.
unformatted_files() {
    grep -E '\.c$' "$scratch/files" | grep -v '^sdk/generated/' |
        xargs -d '\n' clang-format-19 --dry-run 2>&1 | grep -F 'warning:'
}

shell_syntax() {
    local file
    grep -E '\.sh$|^\.ci/run$' "$scratch/files" | while read -r file; do bash -n "$file" || return 1; done
}

if [ ${#files[@]} -lt 20 ]; then fail "check_tree.sh sees only ${#files[@]} files"; fi
check_nothing 'nothing is marked as unfinished' unfinished_words
check_nothing 'nothing is hollow' hollow_words
check_nothing 'no path of one machine' machine_paths
check_nothing "no source has more than $lines_max lines" long_files
check_nothing "no line is longer than $columns_max columns" long_lines
check_nothing 'functions of the SDK fit a screen' long_functions
check_nothing 'sizes of texts are said by names' sizes_without_names
check_nothing 'no tabs, no carriage returns, no spaces at the end of a line' untidy_lines
check_nothing 'every file ends with a newline' no_last_newline
check_nothing 'the top folder has only what belongs there' strange_top_entries
check_nothing 'nothing that was generated' generated_files
check_nothing 'scripts can be executed' not_executable
check_nothing 'headers have guards' header_guards
check_nothing 'files begin with what they are' nameless_files
if command -v clang-format-19 > /dev/null; then
    check_nothing 'sources look as .clang-format says' unformatted_files
else
    check_passed 'skipped: sources look as .clang-format says: clang-format-19 is not installed'
fi
check 'scripts are good bash' shell_syntax
check_summary
