/* differential.c -- random requests to the embedded store and to a real redis-server, at the same moments of held
   clocks; every reply is compared, and every key. What it takes and prints stands in tests/differential.sh. */

#include "differential/forms.h"
#include "differential/mirror.h"
#include "differential/scripts.h"
#include "support/cleanup.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BEGIN_US      1700000000000000ull
#define STEP_MOST_US  40000u
#define LEAP_MOST_US  90000000u /* now and then: marks go stale, leases run out */
#define ROUND         10000u    /* requests, and then all keys are compared and thrown away */
#define DIFFERENT_MAX 200u

typedef struct wishes
{
    uint64_t requests;
    uint64_t seed;
    bool verbose;
} wishes;

static bool read_number(const char* text, uint64_t* number)
{
    char* end;
    if (text == NULL || *text == '\0') return false;
    *number = strtoull(text, &end, 0);
    return *end == '\0';
}

static bool read_wishes(char** argv, wishes* wanted)
{
    *wanted = (wishes){.requests = 20000, .seed = (uint64_t)time(NULL)};
    for (argv++; *argv != NULL; argv++)
    {
        bool good = false;
        if (strcmp(*argv, "--requests") == 0) good = read_number(*++argv, &wanted->requests);
        else if (strcmp(*argv, "--seed") == 0) good = read_number(*++argv, &wanted->seed);
        else if (strcmp(*argv, "--verbose") == 0) good = wanted->verbose = true;
        if (!good) return false;
    }
    return true;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Two of three are Guildhall's own scripts. */
static void draw(random_stream* random, uint64_t now_us, form_words* words)
{
    words->count = 0;
    words->used = 0;
    if (random_below(random, 3) > 0) scripts_draw(random, now_us, words);
    else if (random_one_in(random, 2)) form_draw_lua(random, words);
    else form_draw(random, words);
}

static void run_batch(random_stream* random, uint64_t now_us)
{
    static form_words words[MIRROR_BATCH];
    const uint32_t count = 1 + (uint32_t)random_below(random, MIRROR_BATCH);
    for (uint32_t i = 0; i < count; i++)
    {
        draw(random, now_us, &words[i]);
        mirror_add(words[i].words, words[i].count);
    }
    const uint32_t answered = mirror_send();
    for (uint32_t i = 0; i < answered; i++)
    {
        scripts_count_reply(&words[i], mirror_reply(i));
        scripts_learn(random, mirror_reply(i));
    }
}

static void ask(const char* const* texts, uint32_t count)
{
    gh_str words[4];
    for (uint32_t i = 0; i < count; i++) words[i] = gh_str_of(texts[i]);
    mirror_add(words, count);
    mirror_send();
}

static void change_rights(random_stream* random)
{
    static form_words words;
    words.count = 0;
    words.used = 0;
    form_draw_rights(random, &words);
    mirror_be_user(false);
    mirror_add(words.words, words.count);
    mirror_send();
}

/* Now and then one whose rights are few asks, and now and then the memory is full. */
static void change_weather(random_stream* random)
{
    static const char* const login[] = {"AUTH", "game", "secret"};
    static bool is_full;
    static bool has_user;
    if (random_one_in(random, 60) || (is_full && random_one_in(random, 8))) mirror_set_full(is_full = !is_full);
    if (random_one_in(random, 20) || !has_user) change_rights(random);
    mirror_be_user(random_one_in(random, 5));
    if (has_user) return;
    has_user = true;
    mirror_be_user(true);
    ask(login, 3);
}

static void run(const wishes* wanted)
{
    random_stream random = random_from_seed(wanted->seed);
    uint64_t now_us = BEGIN_US;
    uint64_t round_end = ROUND;
    mirror_set_time(now_us);
    scripts_load();
    while (mirror_get_counts().requests < wanted->requests && mirror_get_counts().differences < DIFFERENT_MAX)
    {
        now_us += random_below(&random, random_one_in(&random, 100) ? LEAP_MOST_US : STEP_MOST_US);
        mirror_set_time(now_us);
        change_weather(&random);
        run_batch(&random, now_us);
        if (mirror_get_counts().requests < round_end) continue;
        mirror_compare_keys();
        mirror_flush();
        round_end = mirror_get_counts().requests + ROUND;
    }
    mirror_compare_keys();
}

int main(int argc, char** argv)
{
    wishes wanted;
    mirror_counts counts;
    double begin;
    (void)argc;
    if (!read_wishes(argv, &wanted))
    {
        fprintf(stderr, "differential [--requests N] [--seed S] [--verbose]\n");
        return 2;
    }
    printf("differential: seed %llu\n", (unsigned long long)wanted.seed);
    fflush(stdout);
    scripts_open();
    mirror_open(wanted.seed);
    begin = seconds_now();
    run(&wanted);
    counts = mirror_get_counts();
    if (wanted.verbose) scripts_say();
    printf("%llu requests in %.1f s, %llu of them refused by both, %u scripts; %llu keys compared\n",
           (unsigned long long)counts.requests, seconds_now() - begin, (unsigned long long)counts.errors,
           scripts_count(), (unsigned long long)counts.keys);
    printf("%d passed, %llu failed\n", counts.differences == 0, (unsigned long long)counts.differences);
    mirror_close();
    scripts_close();
    cleanup_end();
    scratch_close();
    return counts.differences > 0;
}
