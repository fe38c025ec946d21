/* Attempts to connect: how far apart they are, whatever the peer does. Time is a number here. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <string.h>

#define MS UINT64_C(1000)

static void tick_for(scripted* world, uint64_t whole_us, uint64_t step_us)
{
    for (uint64_t i = 0; i < whole_us; i += step_us) scripted_tick(world, step_us);
}

/* ---- the size of the pauses ---------------------------------------------------------------------------- */

static void pauses_double_up_to_the_cap_with_jitter(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.backoff_min_us = 20 * MS;
    config.backoff_max_us = SECOND_US;
    world->open_status = GH_REFUSED;
    scripted_start(world, &config);
    tick_for(world, 60 * SECOND_US, MS);
    assert_in_range(world->opens, 60, 128);
    uint64_t pause = config.backoff_min_us;
    uint64_t shortest = UINT64_MAX;
    uint64_t longest = 0;
    for (uint64_t i = 1; i < world->opens; i++)
    {
        uint64_t gap = world->opened_at_us[i] - world->opened_at_us[i - 1];
        assert_in_range(gap, pause / 2, pause + MS);
        if (pause == SECOND_US && gap < shortest) shortest = gap;
        if (pause == SECOND_US && gap > longest) longest = gap;
        pause = pause * 2 < config.backoff_max_us ? pause * 2 : config.backoff_max_us;
    }
    assert_true(longest - shortest > SECOND_US / 4); /* over half a hundred draws from half a second */
    assert_int_equal(gh_client_link_state(world->client, GH_LINK_COMMANDS), GH_LINK_BACKOFF);
}

static void smallest_and_largest_pauses_are_kept(void** state)
{
    (void)state;
    const uint64_t pauses[] = {MS, 60 * SECOND_US};
    for (int i = 0; i < 2; i++)
    {
        scripted* world = scripted_new();
        gh_client_config config = scripted_config();
        config.backoff_min_us = config.backoff_max_us = pauses[i];
        world->open_status = GH_REFUSED;
        scripted_start(world, &config);
        tick_for(world, 100 * pauses[i], pauses[i] / 10);
        assert_in_range(world->opens, 90, 200);
    }
}

static void clients_draw_different_pauses(void** state)
{
    (void)state;
    scripted* worlds[2];
    for (uint64_t i = 0; i < 2; i++)
    {
        worlds[i] = scripted_new();
        worlds[i]->entropy = i + 1;
        worlds[i]->open_status = GH_REFUSED;
        scripted_start(worlds[i], NULL);
        tick_for(worlds[i], 30 * SECOND_US, MS);
    }
    unsigned same = 0;
    for (int i = 1; i < 20; i++)
        if (worlds[0]->opened_at_us[i] == worlds[1]->opened_at_us[i]) same++;
    assert_in_range(same, 0, 10);
}

static void a_good_connection_makes_the_pause_short_again(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    world->open_status = GH_REFUSED;
    scripted_start(world, &config);
    tick_for(world, 20 * SECOND_US, MS);
    world->open_status = GH_OK;
    SCRIPTED_UNTIL(world, gh_client_ready(world->client), MS, 2 * SECOND_US);
    uint64_t opens = world->opens;
    world->streams[0].ended = true;
    SCRIPTED_UNTIL(world, !gh_client_ready(world->client), MS, SECOND_US);
    uint64_t lost_us = world->now_us;
    SCRIPTED_UNTIL(world, world->opens > opens, MS, SECOND_US);
    assert_in_range(world->now_us - lost_us, config.backoff_min_us / 2, config.backoff_min_us + MS);
    assert_int_equal(scripted_stats(world).links_lost, 1);
}

/* ---- whatever goes wrong, it is tried again at leisure ------------------------------------------------- */

static bool answer_nothing(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)world, (void)words, (void)count, (void)reply;
    return true;
}

static bool answer_error(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const char* text = world->context;
    (void)words, (void)count;
    buffer_add(reply, text, strlen(text));
    return true;
}

static bool answer_and_close(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    (void)words, (void)count, (void)reply;
    for (int i = 0; i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
    return true;
}

/* A minute of ticks: never ready, never more than one stream, and only as many attempts as the pauses
   allow. */
static void assert_patient(scripted* world, uint64_t least, uint64_t most)
{
    scripted_start(world, NULL);
    for (int i = 0; i < 60000; i++)
    {
        scripted_tick(world, MS);
        assert_false(gh_client_ready(world->client));
        assert_in_range(world->opens - world->closes, 0, 1);
    }
    assert_in_range(world->opens, least, most);
    assert_true(world->sends < 20 * world->opens + 20);
    assert_true(world->log.size < 64 * 1024); /* a server that is away is said once */
}

static void peer_that_never_connects(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->open_status = world->connected_status = GH_PENDING;
    assert_patient(world, 18, 31); /* 2 s each, and the pauses */
}

static void peer_that_refuses_after_a_while(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->open_status = GH_PENDING;
    world->connected_status = GH_REFUSED;
    world->opens = 0;
    scripted_start(world, NULL);
    for (int i = 0; i < 60000; i++) scripted_tick(world, MS);
    assert_in_range(world->closes, 60, 128);
}

static void peer_that_never_answers(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = answer_nothing;
    assert_patient(world, 18, 31);
}

static void peer_that_takes_no_bytes(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->send_max = 0;
    scripted_start(world, NULL);
    for (int i = 0; i < 60000; i++) scripted_tick(world, MS);
    assert_in_range(world->opens, 18, 31);
}

static void peer_that_closes_at_once(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    world->answer = answer_and_close;
    assert_patient(world, 60, 128);
}

static void peer_that_answers_errors(void** state)
{
    (void)state;
    const char* const errors[] = {"-NOAUTH Authentication required.\r\n",
                                  "-LOADING Redis is loading\r\n",
                                  "-NOPERM no\r\n",
                                  "-ERR what\r\n",
                                  "-ERR max number of clients reached\r\n",
                                  "-BUSY a script runs\r\n",
                                  "-\r\n",
                                  "-MASTERDOWN no\r\n"};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
    {
        scripted* world = scripted_new();
        world->answer = answer_error;
        world->context = (void*)(uintptr_t)errors[i];
        assert_patient(world, 60, 128);
    }
}

static void peer_that_answers_nonsense(void** state)
{
    (void)state;
    const char* const texts[] = {"HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n", "%1\r\n+a\r\n+b\r\n", "?\r\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
    {
        scripted* world = scripted_new();
        world->answer = answer_error;
        world->context = (void*)(uintptr_t)texts[i];
        assert_patient(world, 60, 128);
        assert_int_equal(scripted_stats(world).protocol_errors, world->closes);
    }
}

/* The link becomes ready and is lost, again and again: the pauses are the shortest, but they are kept. */
static void peer_that_closes_when_ready(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    scripted_start(world, NULL);
    for (int i = 0; i < 10000; i++)
    {
        scripted_tick(world, MS);
        for (int j = 0; j < SCRIPTED_STREAMS_MAX; j++)
            if (gh_client_ready(world->client)) world->streams[j].ended = true;
    }
    assert_in_range(world->opens, 400, 1000);
    for (uint64_t i = 1; i < SCRIPTED_OPENS_MAX && i < world->opens; i++)
        assert_true(world->opened_at_us[i] - world->opened_at_us[i - 1] >= 10 * MS);
}

/* ---- the wake link ------------------------------------------------------------------------------------- */

static bool refuse_subscribe(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const char text[] = "-NOPERM this user has no permissions to access one of the channels\r\n";
    (void)world, (void)count;
    if (!gh_str_equal(words[0], gh_str_literal("SUBSCRIBE"))) return false;
    buffer_add(reply, text, sizeof(text) - 1);
    return true;
}

static void wake_link_backs_off_alone(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    world->answer = refuse_subscribe;
    scripted_start_ready(world, &config);
    for (int i = 0; i < 60000; i++)
    {
        scripted_tick(world, MS);
        assert_true(gh_client_ready(world->client));
        assert_int_not_equal(gh_client_link_state(world->client, GH_LINK_WAKE), GH_LINK_READY);
    }
    assert_in_range(world->opens, 61, 129);
    assert_int_equal(scripted_stats(world).links_lost, 0);

    world->answer = NULL;
    SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, MS, 2 * SECOND_US);
}

TEST_FILE(backoff, cmocka_unit_test(pauses_double_up_to_the_cap_with_jitter),
          cmocka_unit_test(smallest_and_largest_pauses_are_kept), cmocka_unit_test(clients_draw_different_pauses),
          cmocka_unit_test(a_good_connection_makes_the_pause_short_again), cmocka_unit_test(peer_that_never_connects),
          cmocka_unit_test(peer_that_refuses_after_a_while), cmocka_unit_test(peer_that_never_answers),
          cmocka_unit_test(peer_that_takes_no_bytes), cmocka_unit_test(peer_that_closes_at_once),
          cmocka_unit_test(peer_that_answers_errors), cmocka_unit_test(peer_that_answers_nonsense),
          cmocka_unit_test(peer_that_closes_when_ready), cmocka_unit_test(wake_link_backs_off_alone));
