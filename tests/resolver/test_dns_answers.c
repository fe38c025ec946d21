/* Tests of guildhall/resolver.h against a name server that says whatever it likes: what becomes of each answer, in
   which turn addresses come, and when a name is looked up anew. */

#include "resolver/dns_scene.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MS        UINT64_C(1000)
#define SECOND_US UINT64_C(1000000)

static dns_scene* scene_with(name_server* names, gh_dns_families families, uint64_t timeout_us)
{
    dns_scene* self = dns_scene_new(names);
    self->config.families = families;
    self->config.timeout_us = timeout_us;
    if (self->config.try_us > timeout_us / 2) self->config.try_us = timeout_us / 2;
    assert_int_equal(dns_scene_make(self), GH_OK);
    return self;
}

/* ---- what becomes of an answer ----------------------------------------------------------------------------------- */

static void answers_have_outcomes(void** state)
{
    (void)state;
    static const struct
    {
        const char* addresses;
        name_server_mood mood;
        gh_status status; /* GH_IDLE: any failure */
        const char* words;
    } rows[] = {
        {"10.0.0.7", NAMES_ANSWERS, GH_OK, NULL},
        {"2001:db8::7", NAMES_ANSWERS, GH_OK, NULL},
        {"10.0.0.7", NAMES_TRUNCATED, GH_OK, NULL},
        {"10.0.0.7", NAMES_SILENT_SIX, GH_OK, NULL},
        {NULL, NAMES_ANSWERS, GH_GONE, "Domain name not found"},
        {"", NAMES_ANSWERS, GH_GONE, "it has no address of a family that is asked for"},
        {"10.0.0.7", NAMES_SERVFAIL, GH_REFUSED, NULL},
        {"10.0.0.7", NAMES_REFUSED, GH_REFUSED, NULL},
        {"10.0.0.7", NAMES_SILENT, GH_TIMEOUT, "no name server has answered in time"},
        {"10.0.0.7", NAMES_FORGED, GH_TIMEOUT, "no name server has answered in time"},
        {"10.0.0.7", NAMES_GARBAGE, GH_IDLE, NULL},
        {"10.0.0.7", NAMES_TORN, GH_IDLE, NULL},
        {"10.0.0.7", NAMES_LYING_LENGTH, GH_IDLE, NULL},
        {"10.0.0.7", NAMES_LOOP, GH_IDLE, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        char text[64];
        name_server* names = name_server_start();
        dns_scene* self = scene_with(names, GH_DNS_ANY, 400 * MS * suite_patience());
        name_server_say(names, "store.example", rows[i].addresses);
        name_server_mood_of(names, rows[i].mood);
        gh_status status = dns_scene_ask(self, "store.example", text);
        if (rows[i].status == GH_IDLE ? status == GH_OK : status != rows[i].status)
            fail_msg("row %zu: %s, %s\n%s", i, gh_status_name(status), text, self->log);
        assert_string_equal(text, status == GH_OK ? rows[i].addresses : "");
        assert_int_equal(dns_scene_says(self, "2 resolver: store.example: "), status != GH_OK);
        if (rows[i].words != NULL) assert_int_equal(dns_scene_says(self, rows[i].words), 1);
        assert_int_equal(name_server_asked_by_tcp(names) > 0, rows[i].mood == NAMES_TRUNCATED);
        assert_int_equal(gh_dns_get_stats(self->dns).under_way, 0);
    }
}

static volatile sig_atomic_t pipes_broken;

static void note_broken_pipe(int number)
{
    (void)number;
    pipes_broken++;
}

/* A game need not have heard of SIGPIPE. */
static void name_server_that_hangs_up_ends_nobody(void** state)
{
    (void)state;
    char text[64];
    struct sigaction before, now = {.sa_handler = note_broken_pipe};
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_ANY, 400 * MS * suite_patience());
    name_server_say(names, "store.example", "10.0.0.7");
    name_server_mood_of(names, NAMES_HANGS_UP);
    pipes_broken = 0;
    sigaction(SIGPIPE, &now, &before);
    gh_status status = dns_scene_ask(self, "store.example", text);
    sigaction(SIGPIPE, &before, NULL);
    assert_int_equal(pipes_broken, 0);
    assert_true(status < 0);
}

/* Right after a refusal, and without a pause: its port is closed. */
static void nobody_there_is_told_at_once(void** state)
{
    (void)state;
    char text[64];
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_ANY, 20 * SECOND_US);
    name_server_die(names);
    uint64_t begin_us = wait_now_us();
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_REFUSED);
    assert_true(wait_now_us() - begin_us < 10 * SECOND_US);
}

/* Before the next is asked, try_us pass; the lookup as a whole ends well. */
static void second_name_server_is_asked(void** state)
{
    (void)state;
    char text[64], servers[80];
    name_server* silent = name_server_start();
    name_server* names = name_server_start();
    dns_scene* self = dns_scene_new(names);
    name_server_mood_of(silent, NAMES_SILENT);
    name_server_say(names, "store.example", "10.0.0.7");
    snprintf(servers, sizeof(servers), "%s,%s", name_server_address(silent), name_server_address(names));
    self->config.servers = gh_str_of(servers);
    self->config.try_us = 100 * MS;
    assert_int_equal(dns_scene_make(self), GH_OK);
    memset(servers, 'x', sizeof(servers)); /* it was copied */
    uint64_t begin_us = wait_now_us();
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    assert_true(wait_now_us() - begin_us >= 100 * MS);
    assert_string_equal(text, "10.0.0.7");
}

static void same_reason_is_warned_of_once(void** state)
{
    (void)state;
    char text[64];
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_ANY, SECOND_US);
    for (int i = 0; i < 3; i++)
    {
        assert_int_equal(dns_scene_ask(self, "store.example", text), GH_GONE);
        self->ahead_us += 60 * MS;
    }
    assert_int_equal(dns_scene_says(self, "2 resolver: store.example: Domain name not found\n"), 1);
    assert_int_equal(dns_scene_says(self, "4 resolver: store.example: Domain name not found\n"), 2);
    name_server_say(names, "store.example", "10.0.0.7");
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    self->ahead_us += 60 * MS;
    name_server_say(names, "store.example", NULL);
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_GONE);
    assert_int_equal(dns_scene_says(self, "2 resolver: "), 2);
}

/* ---- families, and turns ----------------------------------------------------------------------------------------- */

static void families_are_preferred_or_forbidden(void** state)
{
    (void)state;
    static const struct
    {
        gh_dns_families families;
        const char* first;
        const char* second;
        unsigned questions;
    } rows[] = {
        {GH_DNS_IPV4_FIRST, "127.0.0.1", "::1", 2},
        {GH_DNS_IPV6_FIRST, "::1", "127.0.0.1", 2},
        {GH_DNS_IPV4_ONLY, "127.0.0.1", "127.0.0.1", 1},
        {GH_DNS_IPV6_ONLY, "::1", "::1", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        char text[64];
        name_server* names = name_server_start();
        dns_scene* self = scene_with(names, rows[i].families, 20 * SECOND_US);
        name_server_say(names, "store.example", "127.0.0.1 ::1");
        assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
        assert_string_equal(text, rows[i].first);
        assert_int_equal(name_server_asked(names), rows[i].questions);
        assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
        assert_string_equal(text, rows[i].second);
    }
}

/* Whatever order the name server says them in, and how often: each once before any comes twice. */
static void addresses_come_in_turn(void** state)
{
    (void)state;
    static const char* const orders[] = {"10.0.0.1 10.0.0.2 10.0.0.3", "10.0.0.2 10.0.0.3 10.0.0.1",
                                         "10.0.0.1 10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.2"};
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_IPV4_ONLY, 20 * SECOND_US);
    for (unsigned round = 0; round < 4; round++)
    {
        unsigned seen = 0;
        for (unsigned i = 0; i < 3; i++)
        {
            char text[64];
            name_server_say(names, "store.example", orders[(round + i) % 3]);
            assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
            seen |= 1u << (text[7] - '0');
            self->ahead_us += 60 * MS;
        }
        assert_int_equal(seen, 2 + 4 + 8);
    }
}

static void long_after_the_first_is_first_again(void** state)
{
    (void)state;
    char text[64];
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_IPV4_ONLY, 20 * SECOND_US);
    name_server_say(names, "store.example", "10.0.0.1 10.0.0.2 10.0.0.3");
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    assert_string_equal(text, "10.0.0.1");
    self->ahead_us += 121 * SECOND_US; /* the longest connect_timeout_us and the longest pause */
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    assert_string_equal(text, "10.0.0.2");
    self->ahead_us += 131 * SECOND_US;
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    assert_string_equal(text, "10.0.0.1");
}

static void of_many_addresses_sixteen_are_used(void** state)
{
    (void)state;
    char all[512] = "", text[64];
    bool seen[64] = {false};
    unsigned different = 0;
    name_server* names = name_server_start();
    dns_scene* self = dns_scene_new(names);
    self->config.hosts_capacity = 1; /* so that the addresses stand at the end of the block */
    self->config.timeout_us = 20 * SECOND_US;
    assert_int_equal(dns_scene_make(self), GH_OK);
    for (int i = 1; i <= 20; i++) snprintf(all + strlen(all), sizeof(all) - strlen(all), "10.0.0.%d ", i);
    name_server_say(names, "store.example", all);
    for (int i = 0; i < 40; i++)
    {
        int number = 0;
        assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
        assert_int_equal(sscanf(text, "10.0.0.%d", &number), 1);
        if (!seen[number]) different++;
        seen[number] = true;
    }
    assert_int_equal(different, 16);
    /* Others, none of which was given yet: all of them come, though no place is free for what was given. */
    memset(seen, 0, sizeof(seen));
    self->ahead_us += 60 * MS;
    all[0] = '\0';
    for (int i = 31; i <= 46; i++) snprintf(all + strlen(all), sizeof(all) - strlen(all), "10.0.0.%d ", i);
    name_server_say(names, "store.example", all);
    for (int i = 0; i < 16; i++)
    {
        int number = 0;
        assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
        assert_int_equal(sscanf(text, "10.0.0.%d", &number), 1);
        assert_false(seen[number]);
        seen[number] = true;
    }
    dns_scene_assert_whole(self);
}

/* ---- when a name is looked up anew --------------------------------------------------------------------------------
 */

static void answer_serves_those_who_ask_at_the_same_time(void** state)
{
    (void)state;
    char text[64];
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_IPV4_ONLY, 20 * SECOND_US);
    name_server_say(names, "store.example", "10.0.0.7");
    for (int i = 0; i < 3; i++) dns_scene_ask_once(self, "store.example", text); /* pending, together */
    for (int i = 0; i < 3; i++) assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    gh_dns_stats stats = gh_dns_get_stats(self->dns);
    assert_in_range(stats.lookups, 1, 2);
    name_server_say(names, "store.example", "10.0.0.8");
    self->ahead_us += 50 * MS;
    assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
    assert_string_equal(text, "10.0.0.8");
    assert_int_equal(gh_dns_get_stats(self->dns).lookups, stats.lookups + 1);
}

/* The address of a lookup that was given up is not the answer to the next. */
static void late_answer_is_not_heard(void** state)
{
    (void)state;
    for (int watched = 0; watched < 2; watched++)
    {
        char text[64];
        name_server* names = name_server_start();
        dns_scene* self = scene_with(names, GH_DNS_IPV4_ONLY, 200 * MS * suite_patience());
        name_server_say(names, "store.example", "10.0.0.7");
        name_server_mood_of(names, NAMES_HELD);
        if (watched) assert_int_equal(dns_scene_ask(self, "store.example", text), GH_TIMEOUT);
        else
        {
            assert_int_equal(dns_scene_ask_once(self, "store.example", text), GH_PENDING);
            name_server_serve(names);
            self->ahead_us += SECOND_US * suite_patience();
        }
        assert_true(name_server_release(names) > 0); /* it lies there when the next attempt asks */
        name_server_mood_of(names, NAMES_ANSWERS);
        name_server_say(names, "store.example", "10.0.0.8");
        self->ahead_us += 60 * MS;
        assert_int_equal(dns_scene_ask(self, "store.example", text), GH_OK);
        assert_string_equal(text, "10.0.0.8");
        assert_int_equal(gh_dns_get_stats(self->dns).timeouts, 1);
    }
}

/* While others ask: its sockets are closed in time, and its place is free. */
static void lookup_that_nobody_waits_for_is_dropped(void** state)
{
    (void)state;
    char text[64];
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_IPV4_ONLY, 20 * SECOND_US);
    name_server_say(names, "b.example", "10.0.0.8");
    name_server_mood_of(names, NAMES_SILENT);
    assert_int_equal(dns_scene_ask_once(self, "a.example", text), GH_PENDING);
    assert_int_equal(gh_dns_get_stats(self->dns).under_way, 1);
    name_server_serve(names);
    name_server_mood_of(names, NAMES_ANSWERS);
    self->ahead_us += 20 * SECOND_US;
    assert_int_equal(dns_scene_ask(self, "b.example", text), GH_OK);
    assert_int_equal(gh_dns_get_stats(self->dns).under_way, 0);
    assert_int_equal(dns_scene_says(self, "a.example"), 0); /* nobody is there to be told */
}

static void capacity_is_of_lookups_at_once(void** state)
{
    (void)state;
    char text[64];
    name_server* names = name_server_start();
    dns_scene* self = dns_scene_new(names);
    self->config.hosts_capacity = 2;
    self->config.timeout_us = 20 * SECOND_US;
    assert_int_equal(dns_scene_make(self), GH_OK);
    static const char* const hosts[] = {"a.example", "b.example", "c.example"};
    for (int i = 0; i < 3; i++) name_server_say(names, hosts[i], "10.0.0.7");
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 3; i++) assert_int_equal(dns_scene_ask_once(self, hosts[i], text), GH_PENDING);
    assert_int_equal(gh_dns_get_stats(self->dns).lookups, 2);
    for (int i = 0; i < 3; i++) assert_int_equal(dns_scene_ask(self, hosts[i], text), GH_OK);
    assert_int_equal(gh_dns_get_stats(self->dns).lookups, 3);
}

static void numbers_are_not_asked_for(void** state)
{
    (void)state;
    static const char* const hosts[] = {"10.0.0.7", "2001:db8::7"};
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_ANY, 20 * SECOND_US);
    for (int i = 0; i < 2; i++)
    {
        char text[64];
        assert_int_equal(dns_scene_ask_once(self, hosts[i], text), GH_OK);
        assert_string_equal(text, hosts[i]);
    }
    name_server_serve(names);
    assert_int_equal(name_server_asked(names), 0);
    assert_int_equal(gh_dns_get_stats(self->dns).lookups, 0);
}

static void end_in_the_middle_is_an_end(void** state)
{
    (void)state;
    char text[64];
    gh_str numeric;
    name_server* names = name_server_start();
    dns_scene* self = scene_with(names, GH_DNS_ANY, 20 * SECOND_US);
    name_server_mood_of(names, NAMES_SILENT);
    assert_int_equal(dns_scene_ask_once(self, "a.example", text), GH_PENDING);
    assert_int_equal(dns_scene_ask_once(self, "b.example", text), GH_PENDING);
    gh_dns_shutdown(self->dns);
    assert_int_equal(gh_dns_resolve(self->dns, gh_str_literal("a.example"), &numeric), GH_INVALID_CLIENT);
    assert_int_equal(gh_dns_get_stats(self->dns).lookups, 0);
    gh_dns_shutdown(self->dns);
}

TEST_FILE(dns_answers, cmocka_unit_test(answers_have_outcomes), cmocka_unit_test(name_server_that_hangs_up_ends_nobody),
          cmocka_unit_test(nobody_there_is_told_at_once), cmocka_unit_test(second_name_server_is_asked),
          cmocka_unit_test(same_reason_is_warned_of_once), cmocka_unit_test(families_are_preferred_or_forbidden),
          cmocka_unit_test(addresses_come_in_turn), cmocka_unit_test(long_after_the_first_is_first_again),
          cmocka_unit_test(of_many_addresses_sixteen_are_used),
          cmocka_unit_test(answer_serves_those_who_ask_at_the_same_time), cmocka_unit_test(late_answer_is_not_heard),
          cmocka_unit_test(lookup_that_nobody_waits_for_is_dropped), cmocka_unit_test(capacity_is_of_lookups_at_once),
          cmocka_unit_test(numbers_are_not_asked_for), cmocka_unit_test(end_in_the_middle_is_an_end));
