/* How connections end that speak TLS: a server that says so in the middle of an answer or of a hand-shake, with TCP
   open behind it; one that does not say so; and what it may begin anew. */

#include "tls/tls_front.h"
#include "tls/tls_scene.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE_US UINT64_C(60000000)

/* Every so many bytes. GUILDHALL_STRIDE=1: all of them, in minutes; a larger number is a longer stride. */
static uint64_t stride(void)
{
    const char* text = getenv("GUILDHALL_STRIDE");
    const int wanted = text == NULL ? 0 : atoi(text);
    return wanted == 1 || wanted > 61 ? (uint64_t)wanted : 61;
}

/* Nothing is given up because of a time-out before the test is. */
static tls_scene* start_scene(const tls_front* front)
{
    tls_scene* self = tls_scene_new(tls_front_address(front));
    self->client_config.wake = false;
    self->client_config.backoff_min_us = self->client_config.backoff_max_us = 1000;
    self->client_config.connect_timeout_us = self->client_config.request_timeout_us = MINUTE_US;
    self->config.steps_per_tick = 64;
    tls_scene_start(self);
    return self;
}

static uint64_t answers_of_a_use(tls_front* front)
{
    tls_scene* self = start_scene(front);
    tls_scene_ready(self);
    tls_scene_use(self);
    uint64_t size = tls_front_answered(front);
    tls_scene_end(self);
    return size;
}

static uint64_t links_lost(const tls_scene* self)
{
    gh_client_stats stats;
    assert_int_equal(gh_client_get_stats(self->client, &stats), GH_OK);
    return stats.links_lost;
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static const tls_front_what ends[] = {TLS_FRONT_SAYS_END, TLS_FRONT_ENDS, TLS_FRONT_CUTS};

/* Uses it until all that was planned has happened, and once more. */
static void use_until_done(tls_scene* self, const tls_front* front)
{
    while (!tls_front_has_done(front))
    {
        tls_scene_ready(self);
        tls_scene_use(self);
    }
    tls_scene_ready(self);
    tls_scene_use(self);
    assert_int_equal(gh_tls_get_stats(self->tls).streams, 1);
}

/* A lost link: what was asked is asked again, as soon as there is another connection. */
static void ends_in_the_middle_of_answers_are_lost_links(void** state)
{
    (void)state;
    tls_front* front = tls_front_start(redis_server_start(NULL));
    const uint64_t size = answers_of_a_use(front);
    assert_true(size > 100);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
    {
        tls_front_plan(front, ends[i], TLS_FRONT_IN_ANSWERS, 0, stride(), size);
        tls_scene* self = start_scene(front);
        use_until_done(self, front);
        assert_int_equal(gh_tls_get_stats(self->tls).handshakes, size / stride() + 2);
        assert_int_equal(gh_tls_get_stats(self->tls).failed, 0);
        tls_scene_end(self);
    }
}

/* While nobody waits for an answer there is nothing else that tells. */
static void end_of_a_link_that_rests_is_noticed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    tls_front* front = tls_front_start(server);
    tls_scene* self = start_scene(front);
    tls_scene_ready(self);
    tls_scene_use(self);
    const uint64_t lost = links_lost(self);
    tls_front_plan(front, TLS_FRONT_SAYS_END, TLS_FRONT_WHEN_KILLED, 0, 1, 0);
    redis_server_do(server, "CLIENT KILL TYPE normal");
    TLS_UNTIL(self, links_lost(self) > lost);
    tls_scene_says(self, "closed by the server");
    tls_scene_ready(self);
    tls_scene_use(self);
}

/* As a connection that fails, and it is made again. */
static void ends_in_the_middle_of_hand_shakes_are_refusals(void** state)
{
    (void)state;
    tls_front* front = tls_front_start(redis_server_start(NULL));
    (void)answers_of_a_use(front);
    const unsigned steps = tls_front_steps(front);
    assert_true(steps > 3);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
    {
        tls_front_plan(front, ends[i], TLS_FRONT_IN_HAND_SHAKE, 0, 1, steps - 1);
        tls_scene* self = start_scene(front);
        use_until_done(self, front);
        assert_non_null(strstr(self->log, "the server ended the connection in the TLS hand-shake"));
        tls_scene_end(self);
    }
}

/* ---- what begins anew -------------------------------------------------------------------------------------------- */

/* Another hand-shake on the same connection, of TLS 1.2: the server is told no, and it goes on as it was. */
static void hand_shakes_in_the_middle_are_declined(void** state)
{
    (void)state;
    tls_front* front = tls_front_start(redis_server_start(NULL));
    const uint64_t size = answers_of_a_use(front);
    tls_front_plan(front, TLS_FRONT_SHAKES, TLS_FRONT_IN_ANSWERS, 1, 97, size);
    tls_scene* self = start_scene(front);
    use_until_done(self, front);
    for (int i = 0; i < 20; i++) tls_scene_use(self);
    assert_int_equal(gh_tls_get_stats(self->tls).handshakes, 1);
    assert_int_equal(links_lost(self), 0);
}

TEST_FILE(tls_ends, cmocka_unit_test(ends_in_the_middle_of_answers_are_lost_links),
          cmocka_unit_test(end_of_a_link_that_rests_is_noticed),
          cmocka_unit_test(ends_in_the_middle_of_hand_shakes_are_refusals),
          cmocka_unit_test(hand_shakes_in_the_middle_are_declined));
