/* contacts.c -- a name completed per key-stroke in the caller's mirror of recent contacts, of 100 and of
   1,000: no network. */

#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    FEW = 100,
    MANY = 1000,
    FOUND = 10,
    SEARCHES = 64,
    NAME_SIZE = 16
};

typedef struct contacts_side
{
    gh_contacts contacts;
    void* memory;
    size_t size;
    char names[MANY][NAME_SIZE];
    uint64_t found;
} contacts_side;

static void make_name(size_t number, char out[NAME_SIZE])
{
    static const char* const beginnings[] = {"mia", "bob", "ann", "jeff", "jenny", "jason", "kim", "zoe"};
    snprintf(out, NAME_SIZE, "%s%04zu", beginnings[number % 8], number * 7919 % 10000);
}

static bool fill(bench* self, contacts_side* side)
{
    bench_client client;
    gh_client_config wanted = bench_client_config(self);
    gh_contacts_config config = gh_contacts_config_default();
    gh_contacts_change change = {0};
    if (!bench_client_open(&client, &wanted, gh_platform_default()))
    {
        return false;
    }
    config.capacity = (uint32_t)side->size;
    size_t bytes = gh_contacts_memory(&config);
    side->memory = malloc(bytes);
    gh_status status = gh_contacts_init(&side->contacts, client.client, gh_str_literal("jason"), &config, side->memory,
                                        side->memory == NULL ? 0 : bytes);
    for (size_t i = 0; i < side->size && status == GH_OK; i++)
    {
        make_name(i, side->names[i]);
        status = gh_contacts_touch_begin(&change, &side->contacts, gh_str_of(side->names[i]));
        status = status == GH_OK ? bench_await(&client, &change.op) : status;
    }
    bench_client_close(&client);
    return status == GH_OK || bench_crew_complain("touch", side->size, status) != BENCH_STEP_FAILED;
}

static bool open_side(bench* self, contacts_side* side, size_t size)
{
    memset(side, 0, sizeof *side);
    side->size = size;
    (void)bench_server_flush(self->server); /* both sizes have the same owner */
    return fill(self, side) && side->contacts.count == size;
}

/* The first one, two, three and four letters, as somebody types. */
static bool run_complete(void* context, uint64_t duration_us, bench_sample* sample)
{
    contacts_side* self = context;
    gh_contact found[FOUND];
    uint64_t end_us = bench_now_us() + duration_us;
    size_t strokes = 0;
    size_t name = 0;
    bench_heap_begin();
    while (bench_now_us() < end_us)
    {
        for (size_t i = 0; i < SEARCHES; i++)
        {
            size_t typed = 1 + strokes % 4;
            name = typed == 1 ? (name + 37) % self->size : name;
            self->found += gh_contacts_complete(&self->contacts, gh_str_make(self->names[name], typed), found, FOUND);
            strokes++;
        }
    }
    sample->heap_calls = (double)bench_heap_end();
    sample->cycles = (double)strokes;
    return self->found > 0;
}

static void report(bench* self, bench_side* sides)
{
    bench_figure figure = bench_figure_make("completion in a mirror of 100", "ns");
    figure.ours = bench_side_series(&sides[0], bench_ns_per_cycle);
    bench_figure_goal(&figure, BENCH_VALUE_AT_MOST, 1000.0);
    bench_figure_note(&figure, "a key-stroke: 1 to 4 letters of a name, at most 10 found; CPU");
    bench_figure_cost(&figure, &sides[0]);
    bench_report(self, &figure);
    figure = bench_figure_make("the same, 1,000 contacts", "ns");
    figure.ours = bench_side_series(&sides[1], bench_ns_per_cycle);
    sides[0].name = "100 contacts";
    bench_figure_peer(&figure, &sides[0], bench_ns_per_cycle);
    figure.slope = true;
    bench_report(self, &figure);
}

void bench_contacts(bench* self)
{
    static contacts_side few;
    static contacts_side many;
    bool good = open_side(self, &few, FEW);
    if (open_side(self, &many, MANY) && good)
    {
        bench_side sides[] = {
            {.name = "Guildhall, 100", .run = run_complete, .context = &few},
            {.name = "Guildhall, 1,000", .run = run_complete, .context = &many},
        };
        bench_alternate(self, sides, 2);
        report(self, sides);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    free(few.memory);
    free(many.memory);
}
