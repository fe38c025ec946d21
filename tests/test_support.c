#include "support/suite.h"
#include "support/redis_server.h"
static void server_starts(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "SET a 1");
    assert_int_equal(redis_server_integer(server, "GET a"), 1);
}
TEST_FILE(support, cmocka_unit_test(server_starts));
