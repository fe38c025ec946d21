#!/usr/bin/env bash
# check_no_zlib.sh -- the library as --no-zlib builds it links without zlib, and the tests of files pass on it; those of
# gzip are skipped. Of all sources one alone sees zlib, so only that is compiled anew, into a copy of the debug library.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

make_scratch
library=$scratch/libguildhall.a
makefile=build/guildhall_tests.make

compile() {
    cp build/bin/debug/libguildhall.a "$library" &&
        cc -std=c11 -Wall -Wextra -Wconversion -Wshadow -Werror -Isdk/include -Isdk/src -c sdk/src/files/inflate.c \
            -o "$scratch/inflate.o" &&
        ar r "$library" "$scratch/inflate.o"
}

asked_of_zlib() { nm -u "$library" | grep -E ' (inflate|deflate|crc32|adler32)'; }

# As the makefile of the tests links them, but with this library and without zlib.
link() {
    local libraries
    libraries=$(sed -n 's/^ *LIBS *+= *//p' "$makefile" | head -n 1 | tr ' ' '\n' |
        grep -v -E '^-l(guildhall|z|:libz\.a)$')
    make -C build -f guildhall_tests.make config=debug TARGET="$scratch/tests" LIBS="$library ${libraries//$'\n'/ }"
}

run_tests() {
    "$scratch/tests" files. files_input. > "$scratch/output" 2>&1 || { cat "$scratch/output"; return 1; }
    grep -q 'SKIPPED.*packed' "$scratch/output"
}

check 'it compiles' compile
check_nothing 'it asks nothing of zlib' asked_of_zlib
check 'the tests link without zlib' link
check 'the tests of files pass' run_tests
check_summary
