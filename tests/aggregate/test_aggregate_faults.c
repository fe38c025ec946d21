/* Every fault of support/fault.h over every operation of aggregates. The store is audited by the layout of
   KEYS.md. */

#include "support/faults/fault.h"
#include "support/scene/places.h"

#include <stdio.h>
#include <string.h>

/* Two days, three places on the first, one on the second, and one from nowhere. */
static const char lines[] =
    "81.0.0.1 2011-10-10 13:55:36 x\n81.0.0.2 2011-10-10 13:55:36 x\n81.0.1.1 2011-10-10 13:55:36 x\n"
    "90.0.0.1 2011-10-10 13:55:36 x\n90.0.0.1 2011-10-11 13:55:36 x\n1.0.0.1 2011-10-11 13:55:36 x\n";

typedef struct desk
{
    gh_aggregate* aggregate;
    gh_aggregate_total totals[4];
    char text[400];
} desk;

static void prepare_flush(fault_scene* scene)
{
    desk* self = scene->more;
    scene->leaves_doubt = true; /* all was added, and is looked at once more */
    self->aggregate = places_aggregate(scene->game, places_world(scene->game), 2);
    assert_status(gh_aggregate_add(self->aggregate, gh_str_of(lines)), GH_OK);
}

static void begin_flush(fault_scene* scene)
{
    const desk* self = scene->more;
    assert_status(gh_aggregate_flush_begin(scene->op, scene->game->client, self->aggregate, fault_name(scene),
                                           gh_str_literal("log"), NULL),
                  GH_OK);
}

static bool has_day(const fault_scene* scene, const char* day)
{
    return places_score(scene->server, scene->name, day, 0, "FR") > 0;
}

/* Who is told that it was not done has not all of it in the totals. */
static void audit_denial(const fault_scene* scene, gh_status status)
{
    if (status == GH_OK || status == GH_UNKNOWN) return;
    assert_false(has_day(scene, "2011-10-10") && has_day(scene, "2011-10-11"));
}

/* Each day is in the totals once, or not at all; and then the next one to come gets it there. */
static void audit_flush(fault_scene* scene, gh_status status)
{
    const desk* self = scene->more;
    audit_denial(scene, status);
    for (int day = 0; day < 2; day++)
    {
        const char* name = day == 0 ? "2011-10-10" : "2011-10-11";
        unsigned long long france = places_score(scene->server, scene->name, name, 0, "FR");
        unsigned long long germany = places_score(scene->server, scene->name, name, 0, "DE");
        if (status != GH_OK && france == 0 && germany == 0) continue;
        assert_int_equal(france, 1);
        assert_int_equal(germany, day == 0 ? 3 : 0);
        assert_int_equal(places_score(scene->server, scene->name, name, 1, "DE\tBerlin"), day == 0 ? 2 : 0);
        assert_int_equal(places_score(scene->server, scene->name, name, 2, "FR\tIle-de-France\tParis"), 1);
        assert_int_equal(places_score(scene->server, scene->name, name, 0, ""), day);
    }
    if (status == GH_OK) return;
    scene->other->asleep = false;
    gh_status again = places_flush(scene->other, self->aggregate, scene->name, "log");
    assert_true(again == GH_OK || again == GH_EXISTS);
    scene->other->asleep = true;
    audit_flush(scene, GH_OK);
}

static const fault_operation flush = {"flush",         sizeof(gh_aggregate_flush),
                                      sizeof(desk),    17,
                                      prepare_flush,   begin_flush,
                                      fault_poll_op,   NULL,
                                      fault_cancel_op, audit_flush};

static void prepare_totals(fault_scene* scene)
{
    prepare_flush(scene);
    assert_status(places_flush(scene->other, ((desk*)scene->more)->aggregate, scene->name, "log"), GH_OK);
}

static void begin_totals(fault_scene* scene)
{
    desk* self = scene->more;
    gh_aggregate_read_config config = gh_aggregate_read_config_default();
    config.totals = self->totals;
    config.total_count = 4;
    config.text = self->text;
    config.text_size = sizeof(self->text);
    assert_status(gh_aggregate_read_begin(scene->op, scene->game->client, fault_name(scene), PLACES_DAY, &config),
                  GH_OK);
}

static void audit_totals(fault_scene* scene, gh_status status)
{
    const gh_aggregate_read* op = scene->op;
    if (status != GH_OK) return;
    assert_int_equal(op->count, 2);
    assert_int_equal(op->totals[0].count, 3);
}

static const fault_operation totals = {
    "totals", sizeof(gh_aggregate_read), sizeof(desk), 5, prepare_totals, begin_totals, fault_poll_op,
    NULL,     fault_cancel_op,           audit_totals};

FAULT_TESTS(flush)
FAULT_TESTS(totals)
FAULT_CANCEL_TEST(flush)
FAULT_CANCEL_TEST(totals)

TEST_FILE(aggregate_faults, FAULT_TEST_LIST(flush), FAULT_TEST_LIST(totals), FAULT_CANCEL_TEST_LIST(flush),
          FAULT_CANCEL_TEST_LIST(totals));
