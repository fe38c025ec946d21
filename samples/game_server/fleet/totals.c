/* totals.c -- the totals of a day, from the store. */

#include "totals.h"

#include "logs/counting.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define EACH_LINE 5u

void totals_read_begin(totals_read* r, gh_client* client, int day)
{
    time_t when = time(NULL) + (time_t)day * 86400;
    struct tm date;
    gmtime_r(&when, &date);
    strftime(r->date, sizeof r->date, "%Y-%m-%d", &date);
    gh_aggregate_read_config want = gh_aggregate_read_config_default();
    want.totals = r->list;
    want.total_count = TOTALS_COUNTRIES;
    want.text = r->names;
    want.text_size = sizeof r->names;
    gh_aggregate_read_begin(&r->op, client, gh_str_literal(LOGS_SET), gh_str_of(r->date), &want);
}

gh_status totals_read_poll(const totals_read* r, totals* out)
{
    gh_status status = gh_op_poll(&r->op.op);
    if (status != GH_OK) return status;
    *out = (totals){0};
    memcpy(out->date, r->date, sizeof out->date);
    for (uint32_t i = 0; i < r->op.count; i++)
    {
        gh_str name = r->list[i].country;
        bool somewhere = name.size > 0;
        out->lines += r->list[i].count;
        out->countries += somewhere;
        if (out->shown == TOTALS_SHOWN) continue;
        totals_country* country = &out->largest[out->shown++];
        country->lines = r->list[i].count;
        snprintf(country->name, sizeof country->name, "%.*s", somewhere ? (int)name.size : 7,
                 somewhere ? name.bytes : "nowhere");
    }
    return status;
}

void totals_add(const totals* t, text* out, const char* line_end)
{
    for (uint32_t i = 0; i < t->shown; i++)
    {
        if (i == 0) text_add(out, "%s:", t->date);
        if (i > 0 && i % EACH_LINE == 0) text_add(out, "%s           ", line_end);
        text_add(out, "  %s %" PRIu64, t->largest[i].name, t->largest[i].lines);
    }
    if (t->shown == TOTALS_SHOWN) text_add(out, " ...");
    if (t->shown > 0) text_add(out, "%s", line_end);
}
