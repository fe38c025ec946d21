/* guild.c -- names of a guild completed by their first letters, in rosters of 1,000 and 100,000. */

#include "harness/crew.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    FEW = 1000,
    MANY = 100000,
    AT_ONCE = 64,
    HITS = 10,
    NAME_SIZE = 8
};

typedef struct guild_side
{
    bench_crew crew;
    gh_guild guild;
    uint32_t size;
    size_t prefix_size; /* so that most prefixes have 10 hits or more */
    char name[24];
    uint32_t number;
    uint64_t hits;
    char prefixes[AT_ONCE][NAME_SIZE];
    gh_guild_search searches[AT_ONCE];
    _Alignas(8) char buffers[AT_ONCE][GH_GUILD_BUFFER_SIZE(HITS)];
} guild_side;

/* Letters that look random; peer_listing.py makes the same names. */
static void roster_name(uint32_t number, char out[NAME_SIZE])
{
    uint32_t value = number * 2654435761u + 12345u;
    for (int i = 0; i < NAME_SIZE; i++)
    {
        out[i] = "abcdefghijklmnopqrstuvwxyz"[(value >> 16) % 26u];
        value = value * 1664525u + 1013904223u;
    }
}

static bool begin(bench_crew* crew, size_t i)
{
    guild_side* self = crew->context;
    gh_guild_search_config config = gh_guild_search_config_default();
    config.limit = HITS;
    config.buffer = self->buffers[i];
    config.buffer_size = sizeof self->buffers[i];
    roster_name((uint32_t)((uint64_t)self->number++ * 7919u % self->size), self->prefixes[i]);
    gh_status status = gh_guild_complete_begin(&self->searches[i], &self->guild,
                                               gh_str_make(self->prefixes[i], self->prefix_size), &config);
    return status == GH_OK || bench_crew_complain("gh_guild_complete_begin", i, status) != BENCH_STEP_FAILED;
}

static gh_status poll_search(const bench_crew* crew, size_t i)
{
    const guild_side* self = crew->context;
    return gh_op_poll(&self->searches[i].op);
}

static bench_step look(bench_crew* crew, size_t i, gh_status status)
{
    guild_side* self = crew->context;
    self->hits += self->searches[i].count;
    return status == GH_OK ? BENCH_STEP_OVER : bench_crew_complain("search", i, status);
}

static bool fill(guild_side* self)
{
    static gh_guild_member members[GH_GUILD_MEMBERS_MAX];
    static char names[GH_GUILD_MEMBERS_MAX][NAME_SIZE];
    gh_guild_config config = gh_guild_config_default();
    gh_guild_change change = {0};
    config.capacity = GH_GUILD_CAPACITY_MAX;
    gh_status status = gh_guild_init(&self->guild, self->crew.client.client, gh_str_of(self->name), &config);
    for (uint32_t number = 0; number < self->size && status == GH_OK;)
    {
        size_t count = 0;
        for (; count < GH_GUILD_MEMBERS_MAX && number < self->size; count++)
        {
            roster_name(number++, names[count]);
            members[count].name = gh_str_make(names[count], NAME_SIZE);
        }
        status = gh_guild_join_begin(&change, &self->guild, members, count);
        status = status == GH_OK ? bench_await(&self->crew.client, &change.op) : status;
    }
    return status == GH_OK || bench_crew_complain("join", self->size, status) != BENCH_STEP_FAILED;
}

static bool open_side(bench* self, guild_side* side, uint32_t size, size_t prefix_size)
{
    gh_client_config config = bench_client_config(self);
    memset(side, 0, sizeof *side);
    side->size = size;
    side->prefix_size = prefix_size;
    snprintf(side->name, sizeof side->name, "guild_%u", size);
    side->crew = (bench_crew){.owner = self, .count = AT_ONCE, .weight = 1.0, .context = side};
    side->crew.begin = begin;
    side->crew.poll = poll_search;
    side->crew.look = look;
    return bench_client_open(&side->crew.client, &config, gh_platform_default()) && fill(side);
}

static double us_each(const bench_sample* sample)
{
    return sample->wall_us / sample->cycles;
}

static double server_us_each(const bench_sample* sample)
{
    return sample->server_us / sample->cycles;
}

static void report_growth(bench* self, const bench_side* large, const bench_side* small)
{
    bench_figure figure = bench_figure_make("100,000 beside 1,000 members", "us/search");
    figure.ours = bench_side_series(large, us_each);
    bench_figure_peer(&figure, small, us_each);
    figure.slope = true;
    bench_figure_goal(&figure, BENCH_RATIO_AT_MOST, 1.5);
    bench_figure_cost(&figure, large);
    bench_series here = bench_side_series(large, server_us_each);
    bench_series there = bench_side_series(small, server_us_each);
    bench_figure_limit(&figure,
                       "the server's own CPU of a search grows from %.2f to %.2f us: the larger set has more levels "
                       "and does not fit its caches",
                       bench_series_median(&there), bench_series_median(&here));
    bench_report(self, &figure);
}

static void report(bench* self, bench_side* sides, const guild_side* few, const guild_side* many)
{
    char note[BENCH_TEXT_MAX];
    bench_side* small = &sides[0];
    snprintf(note, sizeof note, "64 searches at once, first letter, at most 10 hits: %.1f each",
             (double)few->hits / ((double)few->number));
    bench_report_rate(self, &(bench_rate){"complete, 1,000 members", "searches", small, &sides[2], 40.0, note});
    snprintf(note, sizeof note, "64 searches at once, two letters, at most 10 hits: %.1f each",
             (double)many->hits / ((double)many->number));
    bench_report_rate(self, &(bench_rate){"complete, 100,000 members", "searches", &sides[1], &sides[3], 40.0, note});
    small->name = "1,000 members";
    report_growth(self, &sides[1], small);
}

void bench_guild(bench* self)
{
    static guild_side few;
    static guild_side many;
    bench_asked_side listing_few = {self, BENCH_PEER_PYTHON, "guild1000"};
    bench_asked_side listing_many = {self, BENCH_PEER_PYTHON, "guild100000"};
    bench_progress(self, "guilds of 1,000 and 100,000 members are filled");
    bool good = open_side(self, &few, FEW, 1);
    if (open_side(self, &many, MANY, 2) && good)
    {
        bench_side sides[] = {
            {.name = "Guildhall, 1,000", .run = bench_crew_run, .context = &few.crew},
            {.name = "Guildhall, 100,000", .run = bench_crew_run, .context = &many.crew},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing_few},
            {.name = "listing (Python)", .run = bench_asked_run, .context = &listing_many},
        };
        for (size_t i = 2; i < 4; i++)
        {
            sides[i].missing = bench_peer_missing(self, BENCH_PEER_PYTHON);
            sides[i].lacks = "names beyond a to z, pages, reading without writing: its searches undo each other";
        }
        bench_alternate(self, sides, 4);
        report(self, sides, &few, &many);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    bench_client_close(&few.crew.client);
    bench_client_close(&many.crew.client);
}
