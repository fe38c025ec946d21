#!/usr/bin/env bash
# tests/fleet.sh -- a Cluster, or servers with Sentinels, on loopback, to try things on. Runs until control-C or the end
# of its input; nothing stays behind but build/.
#
#   ./tests/fleet.sh cluster [--masters 3] [--replicas 1] [--timeout 1000] [--append-only]
#   ./tests/fleet.sh sentinel [--replicas 2] [--timeout 500] [--append-only] [--quick]
#
#   --replicas N   of each master
#   --timeout MS   how long a master may be silent until it is replaced
#   --append-only  servers keep their keys when they are restarted
#   --quick        Sentinels look at the servers often, so that one which was away is a replica again soon
#
# A line for each server says its number, where it listens, what it is, and its process. The last line is
# "addresses: HOST:PORT,...": all nodes of the Cluster, or all Sentinels, and then "name: NAME" stands before it.
#
# Its input may say, a line each: kill N, freeze N, thaw N, restart N, failover N (a planned one, with that node of a
# Cluster), hold N (writes wait, and it is done when its replicas have all that it answered: who is killed then takes
# nothing along), release N (they are carried out, or refused where it was replaced meanwhile), settle (waits until all
# is well); and of a Cluster reshard SLOTS (from who has most to who has fewest), add (a master without slots), remove
# N. An empty line shows them all again, as each of the others does when it is done.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../platform/posix/common.sh"

if [ $# -eq 0 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
    show_usage
    exit 0
fi
setup build redis test >&2
build debug guildhall guildhall_fleet >&2
exec "$root/build/bin/debug/guildhall_fleet" "$@"
