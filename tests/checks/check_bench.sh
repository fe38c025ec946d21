#!/usr/bin/env bash
# check_bench.sh -- the bench ends well if all was measured but what peers that are away would do; what else could not
# be measured is named, and is a failure.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

measure() {
    build/bin/release/guildhall_bench --redis "$redis_address" --out "$scratch" --scripts bench/peers \
        --library build/bin/release/libguildhall.a --peers memcpy "$@" > "$scratch/table" 2> "$scratch/said"
}

fails_by() {
    local said=$1 code=0
    shift
    measure "$@" || code=$?
    cat "$scratch/said"
    [ "$code" -eq 1 ] && grep -q -F -- "not measured: $said" "$scratch/said"
}

# A peer in Python that greets, and then can do nothing.
write_peer() {
    printf '%s\n' 'import sys' 'for line in sys.stdin:' \
        '    print("ok 1 1" if line.startswith("hello") else "no", flush=True)' > "$scratch/peer_listing.py"
}
has_python() { python3 -c 'import redis' || /usr/bin/python3 -c 'import redis'; }

make_scratch
start_redis
check 'a peer that is away is none that fails' measure --quick --only contacts
check 'figures without a peer are measured' measure --quick --only memory
check 'a library that is not there' fails_by 'memory: the code' --quick --only memory --library "$scratch/none"
check 'a game that ends at once' fails_by 'game_server: the fleet' --only game_server --game /bin/false
write_peer
if has_python 2> /dev/null; then
    check 'a peer that is there and fails' fails_by 'permits: ' --quick --only permits --peers python \
        --scripts "$scratch"
else
    check_passed 'skipped: a peer that is there and fails: python3-redis is not installed'
fi
check_summary
