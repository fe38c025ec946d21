/* What the sample's fleet remembers for its page: a point a second, and a frame in its bar of 1 ms. */

#include "support/suite.h"

#include "fleet/history.h"

#include <stdio.h>
#include <string.h>

#define SECOND 1000000u

static snapshot shown;
static history past;
static char json[512 * 1024];

static void begin(void)
{
    shown = (snapshot){.now_us = 100 * SECOND};
    past = (history){0};
    snprintf(shown.rows[1].role, sizeof shown.rows[1].role, "server");
    snprintf(shown.rows[1].name, sizeof shown.rows[1].name, "server-1");
    snprintf(shown.rows[5].role, sizeof shown.rows[5].role, "worker");
    snprintf(shown.rows[5].name, sizeof shown.rows[5].name, "worker-1");
}

/* A frame of the fleet, so much later than the one before. */
static void pass(uint64_t us, uint64_t frame_us, uint64_t locks)
{
    shown.now_us += us;
    shown.rows[1].beat_us = shown.rows[5].beat_us = shown.now_us;
    shown.rows[1].frame_us.recent_us = frame_us;
    shown.rows[1].tick_us.recent_us = frame_us / 100;
    *board_ops_of(&shown.rows[1], "lock") += locks;
    *board_ops_of(&shown.rows[5], "lock") += locks;
    history_take(&past, &shown);
}

static const char* told(void)
{
    text t = text_in(json, sizeof json);
    history_add_json(&past, &t);
    assert_false(t.is_cut);
    return json;
}

static void nothing_is_remembered_yet(void** state)
{
    (void)state;
    past = (history){0};
    assert_string_equal(told(), "{\"points\":0,\"servers\":[],\"systems\":[]}");
}

static void a_point_is_taken_each_second(void** state)
{
    (void)state;
    begin();
    pass(0, 17000, 4); /* nobody knows how long these took */
    pass(SECOND / 2, 30000, 1);
    pass(SECOND / 2, 18000, 2);
    pass(2 * SECOND, 19000, 4); /* our own frame was late: so many each second */
    assert_string_equal(told(), "{\"points\":3,\"servers\":[{\"name\":\"server-1\",\"frame_us\":[17000,18000,19000],"
                                "\"tick_us\":[170,180,190]}],\"systems\":[{\"name\":\"lock\",\"ops_each_s\":[0,6,4],"
                                "\"total\":22}]}");
}

static void who_is_silent_or_began_again_is_no_lie(void** state)
{
    (void)state;
    begin();
    pass(0, 17000, 50);
    pass(SECOND, 17000, 5);
    shown.rows[1].ops[0].value = 0; /* another process, in the same row */
    pass(SECOND, 17000, 1);
    pass(SECOND, 17000, 1);
    shown.now_us += 5 * SECOND; /* and that one says nothing any more */
    history_take(&past, &shown);
    assert_non_null(strstr(told(), "\"frame_us\":[17000,17000,17000,17000,0]"));
    assert_non_null(strstr(json, "\"ops_each_s\":[0,10,0,2,0]"));
}

static void the_oldest_points_go_and_all_fits(void** state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        snprintf(shown.rows[i].role, sizeof shown.rows[i].role, "server");
        snprintf(shown.rows[i].name, sizeof shown.rows[i].name, "a name of 23 letters %02u", i % 100);
        for (uint32_t k = 0; k < BOARD_SYSTEMS; k++)
            snprintf(shown.rows[i].ops[k].name, sizeof shown.rows[i].ops[k].name, "a system of %02u letters", k % 100);
    }
    for (uint32_t second = 0; second < HISTORY_POINTS + 2; second++)
    {
        shown.now_us += SECOND;
        for (uint32_t i = 0; i < BOARD_ROWS; i++)
        {
            shown.rows[i].beat_us = shown.now_us;
            shown.rows[i].frame_us.recent_us = UINT64_MAX - second;
            shown.rows[i].tick_us.recent_us = second;
            for (uint32_t k = 0; k < BOARD_SYSTEMS; k++) shown.rows[i].ops[k].value += UINT32_MAX;
        }
        history_take(&past, &shown);
    }
    text t = text_in(json, 256 * 1024); /* what the page has */
    history_add_json(&past, &t);
    assert_false(t.is_cut);
    assert_non_null(strstr(json, "{\"points\":300,"));
    assert_non_null(strstr(json, "\"frame_us\":[4294967295,"));
    assert_non_null(strstr(json, "\"tick_us\":[2,3,4,"));
    assert_non_null(strstr(json, ",300,301]"));
}

TEST_FILE(game_history, cmocka_unit_test(nothing_is_remembered_yet), cmocka_unit_test(a_point_is_taken_each_second),
          cmocka_unit_test(who_is_silent_or_began_again_is_no_lie),
          cmocka_unit_test(the_oldest_points_go_and_all_fits));
