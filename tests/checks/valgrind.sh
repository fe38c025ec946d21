# shellcheck shell=bash
# tests/checks/valgrind.sh -- how tests are run under valgrind, for tests/run.sh and tests/suite.sh, which source it.
#
# Valgrind sees what sanitizers cannot: decisions on memory that nobody has written. It is slow, so the fault matrix,
# which is the same code over and over, is left out, and so are the samples, which are programs of their own. Leaks are
# for the sanitizers to find: here a child that leaves in the middle of a test would count as one. So would, in each
# child of the process, what c-ares 1.34 does with an empty datagram, whose size it never sets.

# shellcheck disable=SC2034 # used by those who source this
under_valgrind=(env GUILDHALL_SLOW_MACHINE=1 valgrind --quiet --error-exitcode=99 --child-silent-after-fork=yes
    --leak-check=no)

# shellcheck disable=SC2034
not_under_valgrind=(--skip faults --skip samples. --skip game_fleet. --skip game_page. --skip prefixes. --skip garbage.
    --skip rights. --skip drill. --skip migrating. --skip writers. --skip fleets --skip cluster_half. --skip tls_bytes.
    --skip sentinel. --skip _told. --skip dns)
