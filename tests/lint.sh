#!/usr/bin/env bash
# tests/lint.sh -- clang-tidy and cppcheck over the library, with the settings of .clang-tidy and tests/cppcheck.txt.
# Installs what is missing. Prints what they find; the last line is "N passed, N failed", counted by file and tool.
#
#   ./tests/lint.sh [FILE...]        only these files
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/checks/check.sh"

files=("$@")
if [ ${#files[@]} -eq 0 ]; then mapfile -t files < <(find sdk/src platform/posix -name '*.c' | sort); fi
includes=(-Isdk/include -Isdk/src -Ibuild/generated)

setup build lint
run_premake gmake > /dev/null # writes build/generated

# The analyzer follows calls only within a file, and would not know what a function of another file makes sure of. In
# the amalgamation it follows them all. Left out: what asks for Annex K, which nobody has, and for other struct layouts.
analyze() {
    run_premake amalgamate > /dev/null
    clang-tidy --quiet --checks="-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafe*,\
-clang-analyzer-optin.performance.Padding" build/amalgamated/guildhall.c -- -std=c11 2> /dev/null
}

tidy() { clang-tidy --quiet "$1" -- -std=c11 "${includes[@]}" 2> /dev/null; }

check_c() {
    cppcheck --quiet --std=c11 --language=c --platform=unix64 -D__GNUC__=12 --error-exitcode=1 \
        --inline-suppr --enable=warning,performance,portability --suppressions-list=tests/cppcheck.txt \
        "${includes[@]}" "$1"
}

for file in "${files[@]}"; do
    check "clang-tidy $file" tidy "$file"
    check "cppcheck $file" check_c "$file"
done
if [ $# -eq 0 ]; then check 'clang-analyzer, the whole library (takes a while)' analyze; fi
check_summary
