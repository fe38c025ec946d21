/* totals.h -- how many lines of the logs came from which country on a day, as the aggregators have added them up. */

#ifndef GAME_SERVER_TOTALS_H
#define GAME_SERVER_TOTALS_H

#include "guildhall/aggregate.h"
#include "text.h"

enum
{
    TOTALS_COUNTRIES = 512, /* more than there are */
    TOTALS_SHOWN = 15       /* the largest         */
};

typedef struct totals_country
{
    char name[32]; /* cut if it is longer; "nowhere": from addresses in no range */
    uint64_t lines;
} totals_country;

typedef struct totals
{
    char date[16]; /* 2026-05-01; empty: nothing is known of it */
    uint64_t lines;
    uint32_t countries;
    uint32_t shown;
    totals_country largest[TOTALS_SHOWN];
} totals;

typedef struct totals_read
{
    /* private */
    gh_aggregate_read op;
    char date[16];
    gh_aggregate_total list[TOTALS_COUNTRIES];
    char names[TOTALS_COUNTRIES * 64];
} totals_read;

/* day: 0 is today, by our clock; -1 yesterday, 1 tomorrow. */
void totals_read_begin(totals_read* r, gh_client* client, int day);

/* As gh_op_poll; with GH_OK out has them. */
gh_status totals_read_poll(const totals_read* r, totals* out);

/* "2026-05-01: Aland 5120  Borduria 2210 ...", some to a line, each of which ends with line_end. Nothing if nothing is
   known of the day. */
void totals_add(const totals* t, text* out, const char* line_end);

#endif
