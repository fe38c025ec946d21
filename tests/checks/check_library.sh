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

# Code and constants of all of it, scripts included, but for the topologies, of which a program has those that it names;
# of them; and of a program that takes a lock, with its data. A larger one wants a reason, and a smaller number is
# welcome here. Compilers differ by a few percent: these are for gcc 12 on x86-64, and any other gcc may need a percent
# more.
library_max=$((216 * 1024))
sentinel_max=$((6 * 1024))
cluster_max=$((12 * 1024 + 960))
hints_max=$((5 * 1024 + 256))
replicas_max=$((3 * 1024))
program_max=$((72 * 1024))
if [ "$(cc -dumpversion | cut -d. -f1)" != 12 ]; then library_max=$((library_max * 101 / 100)); fi
program=build/bin/release/quickstart
sizes() { size "$library" | awk 'NR > 1 { print $1, $6 }'; }
sentinel='^sentinel'
replicas='^replicas'
cluster='^(cluster(_(connect|epoch|gains|lost|map|place|redirect))?|slot|slots_map|slots_reader|redirect|endpoint)[.]o'
hints='^cluster_hints[.]o'
code_size() { sizes | awk -v t="$sentinel|$cluster|$hints|$replicas" '$2 !~ t { sum += $1 } END { print sum + 0 }'; }
topology_size() { sizes | awk -v t="$1" '$2 ~ t { sum += $1 } END { print sum + 0 }'; }
program_size() { size "$program" | awk 'END { print $1 + $2 }'; }
at_most() {
    say "$1 bytes, and at most $2 are promised"
    [ "$1" -gt 0 ] && [ "$1" -le "$2" ]
}
is_measured() { cc --version | grep -q 'Free Software Foundation' && [ "$(uname -m)" = x86_64 ]; }

# Of hiredis, and of what only others than a lock need.
not_of_a_lock() {
    local others='topology|sentinel|cluster|redirect|endpoint|chat|tasks|mailbox|counter|file|geo'
    nm "$program" | awk '{ print $NF }' |
        grep -E "^(redisReader.*|sds.*|gh_tree_.*|gh_client_dump|gh_($others)_.*)"
}

unwind_tables() { size -A "$library" | awk '$1 == ".eh_frame" && $2 > 0'; }

if [ -z "$(asked)" ]; then fail "nm shows nothing of $library"; fi
check_nothing 'never calls the heap' asked_of "$heap"
check_nothing 'never calls what of hiredis does' asked_of "$hiredis_heap"
check_nothing 'never waits, never looks names up' asked_of "$waiting"
check_nothing 'has no threads, no signals, no environment' asked_of "$process"
check_nothing 'never writes to the console or a file' asked_of "$stdio"
check_nothing 'shows no names but gh_...' foreign_names
check_nothing 'has every function that is declared' missing_names
check_nothing 'has no variables of its own' variables
check 'the quickstart is built' build release quickstart
check_nothing 'a program that takes a lock has nothing that a lock does not need' not_of_a_lock
check_nothing 'has no unwind tables' unwind_tables
if is_measured; then
    check 'is as small as is promised' at_most "$(code_size)" "$library_max"
    check 'so is what follows sentinels' at_most "$(topology_size "$sentinel")" "$sentinel_max"
    check 'so is what follows a Cluster' at_most "$(topology_size "$cluster")" "$cluster_max"
    check 'so is what listens to its nodes for hints' at_most "$(topology_size "$hints")" "$hints_max"
    check 'so is what waits for replicas' at_most "$(topology_size "$replicas")" "$replicas_max"
    check 'so is a program that takes a lock' at_most "$(program_size)" "$program_max"
fi
say "note: code and constants of the release library have $(code_size) bytes; the quickstart $(program_size)"
check_summary
