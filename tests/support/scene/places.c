/* places.c -- places drawn at random, log lines about them, and a plain count. */

#include "support/scene/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS     5u
#define CITIES      10u
#define PER_COUNTRY (REGIONS * CITIES)

static const char* const days[2] = {"2011-10-10", "2011-10-11"};

static gh_geo* table_of(game* owner, const char* rows, size_t size, uint32_t nodes)
{
    gh_geo_config config = gh_geo_config_default();
    gh_geo* table = NULL;
    size_t used = 0;
    config.nodes_capacity = nodes + 16;
    config.text_bytes = 1024 * 1024;
    config.ipv6_capacity = 16;
    void* memory = game_new(owner, gh_geo_memory(&config));
    assert_status(gh_geo_init(&table, &config, memory, gh_geo_memory(&config)), GH_OK);
    assert_status(gh_geo_add_rows(table, gh_str_make(rows, size), &used), GH_OK);
    assert_int_equal(used, size);
    assert_status(gh_geo_seal(table, 0), GH_OK);
    return table;
}

gh_geo* places_world(game* owner)
{
    static const char rows[] = "173.194.0.0,173.194.255.255,US,California,Mountain View\n"
                               "81.0.0.0,81.0.0.255,DE,Berlin,Berlin\n"
                               "81.0.1.0,81.0.1.255,DE,Nordrhein-Westfalen,Cologne\n"
                               "81.0.2.0,81.0.2.255,DE,Nordrhein-Westfalen,\n"
                               "90.0.0.0,90.0.0.255,FR,Ile-de-France,Paris\n"
                               "2001:db8::,2001:db8::ffff,JP,Tokyo,Tokyo\n";
    return table_of(owner, rows, sizeof(rows) - 1, 64);
}

gh_geo* places_table(game* owner, const char* rows)
{
    return table_of(owner, rows, strlen(rows), 64);
}

gh_geo* places_many(game* owner, unsigned countries)
{
    unsigned cities = countries * PER_COUNTRY;
    char* rows = game_new(owner, cities * 96 + 1);
    size_t size = 0;
    for (unsigned i = 0; i < cities; i++)
        size += (size_t)sprintf(rows + size, "10.%u.%u.0,10.%u.%u.255,c%u,r%u,city number %u\n", i / 256, i % 256,
                                i / 256, i % 256, i / PER_COUNTRY, i / CITIES % REGIONS, i);
    return table_of(owner, rows, size, cities * 2);
}

gh_aggregate* places_aggregate(game* owner, const gh_geo* table, unsigned days_capacity)
{
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_aggregate* aggregate = NULL;
    config.nodes_capacity = gh_geo_node_count(table);
    config.days_capacity = days_capacity;
    void* memory = game_new(owner, gh_aggregate_memory(&config));
    assert_status(gh_aggregate_init(&aggregate, &config, memory, gh_aggregate_memory(&config)), GH_OK);
    assert_status(gh_aggregate_start(aggregate, table), GH_OK);
    return aggregate;
}

gh_status places_flush(game* from, gh_aggregate* aggregate, const char* set, const char* file)
{
    gh_aggregate_flush* flush = GAME_NEW(from, gh_aggregate_flush);
    assert_status(gh_aggregate_flush_begin(flush, from->client, aggregate, gh_str_of(set), gh_str_of(file), NULL),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&flush->op) != GH_PENDING);
    return gh_op_poll(&flush->op);
}

static uint64_t next_random(uint64_t* x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x >> 16;
}

char* places_log(game* owner, unsigned countries, unsigned lines, unsigned seed, size_t* size)
{
    static const char* const broken[] = {"",
                                         "10.0.0.256 2011-10-10 13:55:36 x",
                                         "no address",
                                         "10.0.0.1 2011-13-10 13:55:36 x",
                                         "10.0.0.1 2011-10-10 13:55:36",
                                         "10.0.0.1 2011-10-10 24:55:36 x",
                                         "10.0.0.1 2011-02-29 13:55:36 x"};
    unsigned cities = countries * PER_COUNTRY;
    char* log = game_new(owner, lines * 64 + 1);
    size_t made = 0;
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (unsigned i = 0; i < lines; i++)
    {
        unsigned city = (unsigned)(next_random(&x) % (cities + cities / 10 + 1)); /* one in eleven is nowhere */
        const char* day = days[next_random(&x) % 4 == 0];
        const char* end = next_random(&x) % 16 == 0 ? "\r\n" : "\n";
        uint64_t kind = next_random(&x) % 100;
        if (kind < 3) made += (size_t)sprintf(log + made, "%s%s", broken[next_random(&x) % 7], end);
        else if (kind < 6)
            made += (size_t)sprintf(log + made, "\t10.%u.%u.%u  %s \t01:02:03 spaced out%s", city / 256, city % 256,
                                    i % 256, day, end);
        else
            made += (size_t)sprintf(log + made, "10.%u.%u.%u %s %02u:%02u:%02u achievement-%u%s", city / 256,
                                    city % 256, i % 256, day, i % 24, i % 60, i % 59, i % 1000, end);
    }
    *size = made;
    return log;
}

/* Another way than the library's: copy the line, strtok, strtol. The only days in these logs are the two. */
static bool count_line(char* line, unsigned cities, unsigned long long* counts)
{
    char* words[5] = {NULL};
    unsigned count = 0;
    for (char* word = strtok(line, " \t\r"); word != NULL && count < 5; word = strtok(NULL, " \t\r"))
        words[count++] = word;
    if (count < 4) return false;
    char* at = words[0];
    long parts[4];
    for (int i = 0; i < 4; i++)
    {
        parts[i] = strtol(at, &at, 10);
        if (parts[i] < 0 || parts[i] > 255 || *at++ != (i < 3 ? '.' : 0)) return false;
    }
    unsigned day = 2;
    for (unsigned i = 0; i < 2; i++)
        if (strcmp(words[1], days[i]) == 0) day = i;
    if (day == 2 || strtol(words[2], NULL, 10) > 23) return false;
    unsigned city = (unsigned)(parts[1] * 256 + parts[2]);
    counts[day * (cities + 1) + (city < cities ? city : cities)]++;
    return true;
}

unsigned places_count(const char* log, size_t size, unsigned cities, unsigned long long* counts)
{
    unsigned malformed = 0;
    for (size_t at = 0; at < size;)
    {
        char line[128];
        size_t length = strcspn(log + at, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, log + at);
        if (line[0] != 0 && strcmp(line, "\r") != 0 && !count_line(line, cities, counts)) malformed++;
        at += length + 1;
    }
    return malformed;
}

unsigned long long places_score(redis_server* server, const char* set, const char* day, int level, const char* place)
{
    redisReply* reply = redis_server_command(server, "ZSCORE gh:{daily:%s.%s}:%d %s", set, day, level, place);
    unsigned long long score = reply->type == REDIS_REPLY_STRING ? strtoull(reply->str, NULL, 10) : 0;
    freeReplyObject(reply);
    return score;
}

void places_must_be(redis_server* server, const char* set, const char* day, unsigned countries,
                    const unsigned long long* counts)
{
    unsigned cities = countries * PER_COUNTRY;
    unsigned found[3] = {0, 0, 0};
    unsigned long long region = 0;
    unsigned long long country = 0;
    char place[128];
    for (unsigned i = 0; i < cities; i++)
    {
        snprintf(place, sizeof(place), "c%u\tr%u\tcity number %u", i / PER_COUNTRY, i / CITIES % REGIONS, i);
        assert_int_equal(places_score(server, set, day, 2, place), counts[i]);
        found[2] += counts[i] > 0;
        region += counts[i];
        country += counts[i];
        if (i % CITIES == CITIES - 1)
        {
            *strrchr(place, '\t') = 0;
            assert_int_equal(places_score(server, set, day, 1, place), region);
            found[1] += region > 0;
            region = 0;
        }
        if (i % PER_COUNTRY == PER_COUNTRY - 1)
        {
            *strrchr(place, '\t') = 0;
            assert_int_equal(places_score(server, set, day, 0, place), country);
            found[0] += country > 0;
            country = 0;
        }
    }
    assert_int_equal(places_score(server, set, day, 0, ""), counts[cities]);
    found[0] += counts[cities] > 0;
    for (int level = 0; level < 3; level++) /* and nothing else */
        assert_int_equal(redis_server_integer(server, "ZCARD gh:{daily:%s.%s}:%d", set, day, level), found[level]);
    assert_int_equal(redis_server_integer(server, "EXISTS gh:{daily:%s.%s}:g", set, day), 0);
}
