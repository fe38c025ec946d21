/* What a Cluster refuses is told in words, and in none that are secret. */

#include "cluster/machines.h"

#include <stdio.h>
#include <string.h>

#define PHANTOM "gh:{lock:sword}:-"

/* Without INFO a node does not say that it is one of a Cluster. */
static const char* keeps_info(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)host;
    if (machines_is(words[0], "INFO")) return "-NOPERM this user has no permissions to run the 'info' command\r\n";
    for (size_t i = 3; i < count && machines_is(words[0], "EVALSHA"); i++)
        self->count += machines_is(words[i], PHANTOM) ? 1 : 0;
    return NULL;
}

/* Its scripts have the key by which a server refuses them while their slot moves, all the same. */
static void scripts_are_whole_where_info_is_refused(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = machines_map("10.0.0.2", NULL);
    all->says = keeps_info;
    machines_start(all, NULL);
    (void)scripted_want(all->world, "sword", 10 * SECOND_US, 60 * SECOND_US);
    MACHINES_UNTIL(all, all->count > 0, SECOND_US);
    assert_true(scripted_logged(all->world, "the server's settings cannot be seen: NOPERM"));
}

#define PASSWORD "Xq7-vermilion"
#define TWO_MASTERS                                                                                                    \
    "*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"                                                     \
    "*3\r\n:8192\r\n:16383\r\n*2\r\n$8\r\n10.0.0.3\r\n:7000\r\n"

static gh_status give_password(void* context, gh_str* user, gh_str* password)
{
    (void)context;
    *user = gh_str_literal("mia");
    *password = gh_str_literal(PASSWORD);
    return GH_OK;
}

/* The second of two masters, and then whoever is asked for a map. */
static const char* repeats_the_password(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (!machines_is(words[0], "AUTH")) return NULL;
    const bool is_map_link = strcmp(host, "10.0.0.1") == 0;
    if (!is_map_link && strcmp(host, "10.0.0.3") != 0) return NULL;
    if (is_map_link && self->count++ > 0) return NULL;
    return "-ERR wrong credentials " PASSWORD "\r\n";
}

static void password_that_a_node_repeats_is_nowhere(void** state)
{
    (void)state;
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.credentials = give_password;
    all->map = TWO_MASTERS;
    all->says = repeats_the_password;
    machines_start(all, &config);
    MACHINES_UNTIL(all, scripted_stats(all->world).maps_read > 0, 10 * SECOND_US);
    gh_command* first = machines_get(all, "sword", 10 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&first->op) != GH_PENDING, 10 * SECOND_US);
    assert_int_equal(gh_op_poll(&first->op), GH_OK);
    gh_command* second = machines_get(all, "shield", 10 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&second->op) != GH_PENDING, 10 * SECOND_US);
    assert_int_equal(gh_op_poll(&second->op), GH_REFUSED);
    assert_true(scripted_logged(all->world, "map link: "));
    assert_true(scripted_logged(all->world, "hand-shake: "));
    assert_false(scripted_logged(all->world, "vermilion"));
}

/* ---- rights that lack -------------------------------------------------------------------------------------------- */

static const char* keeps_asking(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count;
    if (machines_is(words[0], "ASKING")) return "-NOPERM this user has no permissions to run the 'asking' command\r\n";
    if (!machines_is(words[0], "GET")) return NULL;
    if (strcmp(host, "10.0.0.2") == 0) return ++self->count <= 20 ? "-ASK 5455 10.0.0.3:7000\r\n" : NULL;
    return "-MOVED 5455 10.0.0.2:7000\r\n";
}

/* The op waits until its slot has moved, and a person knows why. */
static void asking_that_is_refused_is_told(void** state)
{
    (void)state;
    machines* all = machines_new();
    all->map = TWO_MASTERS;
    all->says = keeps_asking;
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, 30 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_true(scripted_logged(all->world,
                                "E ops wait until their slot has moved: NOPERM this user has no permissions "
                                "to run the 'asking' command\n"));
}

static const char* knows_nobody(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)count, (void)self;
    if (!machines_is(words[0], "AUTH") || strcmp(host, "10.0.0.3") != 0) return NULL;
    return "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
}

/* One of many nodes does not know the user: what goes there is refused, and the log says where that is. */
static void login_that_is_refused_says_where(void** state)
{
    (void)state;
    machines* all = machines_new();
    gh_client_config config = scripted_config();
    config.password = gh_str_literal("sesame");
    all->map = TWO_MASTERS;
    all->says = knows_nobody;
    machines_start(all, &config);
    gh_command* first = machines_get(all, "sword", 10 * SECOND_US);
    gh_command* second = machines_get(all, "shield", 10 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&first->op) != GH_PENDING && gh_op_poll(&second->op) != GH_PENDING, 10 * SECOND_US);
    assert_int_equal(gh_op_poll(&first->op), GH_OK);
    assert_int_equal(gh_op_poll(&second->op), GH_REFUSED);
    assert_true(scripted_logged(all->world, "E hand-shake: 10.0.0.3:7000: WRONGPASS"));
}

static const char* const no_times[] = {"*0\r\n",
                                       "*2\r\n:5\r\n$1\r\nx\r\n",
                                       "*2\r\n$2\r\n-1\r\n$1\r\n0\r\n",
                                       "$1\r\n1\r\n",
                                       "*2\r\n$1\r\n1\r\n$2\r\n-1\r\n",
                                       "*2\r\n$1\r\n1\r\n$7\r\n1000000\r\n",
                                       "*1\r\n$1\r\n1\r\n",
                                       "*2\r\n$16\r\n9007199254740993\r\n$1\r\n0\r\n"};

static const char* does_not_know_the_time(machines* self, const char* host, const gh_str* words, size_t count)
{
    (void)host;
    (void)count;
    if (!machines_is(words[0], "TIME") || self->count >= sizeof no_times / sizeof no_times[0]) return NULL;
    return no_times[self->count++];
}

/* Nothing is sent there before it does: nothing could say until when it may be carried out. */
static void node_that_does_not_know_the_time_is_asked_again(void** state)
{
    (void)state;
    const unsigned count = sizeof no_times / sizeof no_times[0];
    machines* all = machines_new();
    all->map = machines_map("10.0.0.2", NULL);
    all->says = does_not_know_the_time;
    machines_start(all, NULL);
    gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, 60 * SECOND_US);
    assert_int_equal(gh_op_poll(&op->op), GH_OK);
    assert_int_equal(all->served, 1);
    assert_int_equal(all->count, count);
    assert_int_equal(scripted_stats(all->world).protocol_errors, count);
    assert_true(scripted_logged(all->world, "no time in the reply"));
}

TEST_FILE(cluster_words, cmocka_unit_test(scripts_are_whole_where_info_is_refused),
          cmocka_unit_test(password_that_a_node_repeats_is_nowhere), cmocka_unit_test(asking_that_is_refused_is_told),
          cmocka_unit_test(login_that_is_refused_says_where),
          cmocka_unit_test(node_that_does_not_know_the_time_is_asked_again));
