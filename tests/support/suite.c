/* suite.c -- the run's options, and which test is running. */

#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct
{
    uint64_t seed;
    const char* redis_address;
    const char* test_name;
    bool skipped;
    bool tls;
    suite_kind store;
} suite = {0, NULL, "", false, false, SUITE_ONE_SERVER};

uint64_t suite_seed(void)
{
    return suite.seed;
}

const char* suite_test_name(void)
{
    return suite.test_name;
}

const char* suite_redis_address(void)
{
    return suite.redis_address;
}

bool suite_tls(void)
{
    return suite.tls;
}

suite_kind suite_store(void)
{
    return suite.store;
}

void suite_one_server(const char* what)
{
    if (suite.store != SUITE_ONE_SERVER) fail_msg("%s: not with fleets, as apart.c should say", what);
}

unsigned suite_patience(void)
{
    const char* slow = getenv("GUILDHALL_SLOW_MACHINE");
    return slow != NULL && strcmp(slow, "1") == 0 ? 10 : 1;
}

void suite_skip(const char* reason)
{
    printf("%s: skipped: %s\n", suite.test_name, reason);
    suite.skipped = true;
    skip();
}

void suite_configure(uint64_t seed, const char* redis_address, bool tls, suite_kind store)
{
    suite.store = store;
    suite.tls = tls;
    suite.seed = seed;
    suite.redis_address = redis_address;
}

void suite_enter(const char* test_name)
{
    suite.test_name = test_name;
    suite.skipped = false;
}

bool suite_was_skipped(void)
{
    return suite.skipped;
}
