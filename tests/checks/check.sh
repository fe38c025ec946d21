# check.sh -- counts checks and says how they went. For bash, sourced by the check_*.sh after "set -euo pipefail".
#
# A check is a command. check wants it to succeed, check_nothing wants it to print nothing: what it prints is what is
# wrong. A script ends with check_summary, whose line "N passed, N failed" tests/run.sh adds up.

. "$(dirname "${BASH_SOURCE[0]}")/../../platform/posix/common.sh"
cd "$root"

checks_passed=0
checks_failed=0

check_passed() {
    checks_passed=$((checks_passed + 1))
    say "ok      $1"
}

check_failed() {
    checks_failed=$((checks_failed + 1))
    say "FAILED  $1"
    if [ -n "${2-}" ]; then sed 's/^/        /' <<< "$2"; fi
}

check() {
    local label=$1 output
    shift
    if output=$("$@" 2>&1); then check_passed "$label"; else check_failed "$label" "$output"; fi
}

check_nothing() {
    local label=$1 output
    shift
    output=$("$@" 2>&1) || true
    if [ -z "$output" ]; then check_passed "$label"; else check_failed "$label" "$output"; fi
}

# The functions that the public headers declare, and those that an object or a library shows to the linker.
declared_names() {
    cat sdk/include/guildhall/*.h | tr '\n' ' ' | grep -o -E 'GH_API [^;(]*[ *]gh_[a-z0-9_]+\(' |
        sed -E 's/.*[ *]([a-z0-9_]+)\($/\1/' | sort -u
}
shown_names() { nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u; }

# Everything at the top of the tree but what was built.
copy_sources() {
    local part
    for part in "$root"/*; do
        if [ "$(basename "$part")" != build ]; then cp -a "$part" "$1/"; fi
    done
}

check_summary() {
    say "$checks_passed passed, $checks_failed failed"
    [ "$checks_failed" -eq 0 ]
}
