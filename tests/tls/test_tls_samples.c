/* Tests of the sample game server on a store that speaks TLS alone. */

#include "tls/tls_scene.h"

#include "support/scene/program.h"
#include "support/scratch.h"

#include <stdlib.h>
#include <string.h>

static program game; /* too large for the stack */

static void prepare(const tls_server* server, const char* roots)
{
    const char* arguments[] = {"fleet",  "--redis", server->address, "--tls-roots", roots,
                               "--bots", "20",      "--seconds",     "3",           "--quiet"};
    program_find(&game, "game_server");
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) program_argument(&game, arguments[i]);
}

static void start(void)
{
    char folder[SCRATCH_PATH_SIZE];
    scratch_folder(folder);
    setenv("TMPDIR", folder, 1);
    program_start(&game);
    unsetenv("TMPDIR");
}

static void fleet_plays_through_tls(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    prepare(&server, papers_path("root.pem"));
    start();
    program_expect_status(&game, 0);
    program_expect_text(&game, "audit of the store");
}

static void fleet_says_that_roots_are_none(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    prepare(&server, papers_path("root.key"));
    start();
    assert_int_not_equal(program_end(&game), 0);
    program_expect_text(&game, "credentials.roots");
}

TEST_FILE(tls_samples, cmocka_unit_test(fleet_plays_through_tls), cmocka_unit_test(fleet_says_that_roots_are_none));
