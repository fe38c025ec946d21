#!/usr/bin/env bash
# check_library.sh -- what the release library asks of the system and shows to a game, as its symbols tell.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

library=build/bin/release/libguildhall.a

heap='(malloc|calloc|realloc|reallocarray|free|strn?dup|posix_memalign|aligned_alloc|memalign|valloc|alloca'
heap+='|v?asprintf|getline|getdelim|open_memstream|qsort)'
waiting='(getaddrinfo|gethostbyname.*|getnameinfo|res_.*|u?sleep|(clock_)?nanosleep|select|fsync|system|popen)'
process='(pthread_.*|thrd_.*|mtx_.*|signal|sigaction|fork|_?exit|getenv|setenv|setlocale|s?rand|random|time)'
stdio='(.*printf(_chk)?|f?puts|f?putc|putchar|fopen.*|fread|fwrite|std(in|out|err))'

asked() { nm -u "$library" | awk 'NF == 2 { print $2 }' | sort -u; }
asked_of() { asked | grep -E -x "(__)?$1(_chk)?"; }
foreign_names() { shown_names "$library" | grep -v '^gh_'; }
missing_names() { comm -23 <(declared_names) <(shown_names "$library"); }

# What can be written to at run time, of one thread or of all.
variables() {
    objdump -t "$library" |
        awk 'NF > 3 && $NF !~ /^\./ && $(NF - 2) ~ /^\.(data|bss|tdata|tbss)/ && $(NF - 2) !~ /\.ro/ { print $NF }'
}

# What hiredis makes or frees by itself, or for the whole process.
hiredis_heap='(redisReaderCreate.*|redisReaderFree|redisReaderFeed|hiredis.*|hi_.*|sds.*|freeReplyObject)'

# All of it; a game links only the systems that it uses.
code_size() { size -t "$library" | awk 'END { print $1 }'; }

if [ -z "$(asked)" ]; then fail "nm shows nothing of $library"; fi
check_nothing 'never calls the heap' asked_of "$heap"
check_nothing 'never calls what of hiredis does' asked_of "$hiredis_heap"
check_nothing 'never waits, never looks names up' asked_of "$waiting"
check_nothing 'has no threads, no signals, no environment' asked_of "$process"
check_nothing 'never writes to the console or a file' asked_of "$stdio"
check_nothing 'shows no names but gh_...' foreign_names
check_nothing 'has every function that is declared' missing_names
check_nothing 'has no variables of its own' variables
say "note: the release library has $(code_size) bytes of code and constants, scripts included"
check_summary
