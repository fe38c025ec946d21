/* Tests of guildhall/tls.h against real servers: whole flows, who is verified, tickets, renewal, memory, what is said.
 */

#include "tls/tls_scene.h"

#include "support/cleanup.h"
#include "support/faults/heap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ordinary way -------------------------------------------------------------------------------------------- */

static void locks_pass_through_it(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    tls_scene* self = tls_scene_new(server.address);
    tls_scene_start(self);
    tls_scene_ready(self);
    tls_scene_use(self);
    TLS_UNTIL(self, gh_client_link_state(self->client, GH_LINK_WAKE) == GH_LINK_READY);
    gh_tls_stats stats = gh_tls_get_stats(self->tls);
    assert_int_equal(stats.handshakes, 2);
    assert_int_equal(stats.failed, 0);
    assert_int_equal(stats.streams, 2);
    assert_true(stats.steps > 0);
}

/* Larger than a record of TLS, both ways. */
static void long_bodies_pass_whole(void** state)
{
    enum
    {
        SIZE = 60000
    };
    static char body[SIZE], answer[2 * SIZE];
    (void)state;
    tls_server server = tls_server_start("server", false);
    tls_scene* self = tls_scene_new(server.address);
    self->client_config.out_bytes = self->client_config.reply_bytes = 128 * 1024;
    tls_scene_start(self);
    tls_scene_ready(self);
    for (size_t i = 0; i < SIZE; i++) body[i] = (char)('a' + i * 31 % 26);
    const gh_str words[] = {gh_str_literal("ECHO"), gh_str_make(body, SIZE)};
    gh_command command = GH_ZERO;
    gh_command_config config = gh_command_config_default();
    config.reply_memory = answer;
    config.reply_size = sizeof(answer);
    for (int i = 0; i < 5; i++)
    {
        assert_int_equal(gh_command_begin(&command, self->client, words, 2, &config), GH_OK);
        TLS_UNTIL(self, gh_op_poll(&command.op) != GH_PENDING);
        assert_int_equal(gh_op_poll(&command.op), GH_OK);
        assert_int_equal(command.reply.text.size, SIZE);
        assert_memory_equal(command.reply.text.bytes, body, SIZE);
    }
}

/* ---- who is verified --------------------------------------------------------------------------------------------- */

static void what_is_wrong_is_said(void** state)
{
    (void)state;
    static const struct
    {
        const char* certificate;
        const char* roots;
        const char* name;
        const char* revoked;
        const char* words; /* NULL: nothing is wrong */
    } rows[] = {
        {"server", "root.pem", "", NULL, NULL},
        {"server", "root.der", "", NULL, NULL},
        {"server", "root.pem", "store.example", NULL, NULL},
        {"server", "root.pem", "store.example.", NULL, NULL},
        {"server", "root.pem", "::1", NULL, NULL},
        {"server", "root.pem", "", "list.pem", NULL},
        {"expired", "root.pem", "", NULL, "the server's certificate has expired (1)"},
        {"future", "root.pem", "", NULL, "the server's certificate is not yet valid"},
        {"server", "other.pem", "", NULL, "no root of yours has signed the server's certificate (8)"},
        {"elsewhere", "root.pem", "", NULL, "the server's certificate is for another name (4)"},
        {"server", "root.pem", "127.0.0.2", NULL, "the server's certificate is for another name (4)"},
        {"server", "root.pem", "elsewhere.example", NULL, "the server's certificate is for another name (4)"},
        {"server", "root.pem", "store.example..", NULL, "the server's certificate is for another name (4)"},
        {"elsewhere", "root.pem", "elsewhere.example", NULL, NULL},
        {"revoked", "root.pem", "", "list.pem", "the server's certificate was revoked (2)"},
        {"revoked", "root.pem", "", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        tls_server server = tls_server_start(rows[i].certificate, false);
        tls_scene* self = tls_scene_new(server.address);
        self->config.credentials.roots = papers_read(rows[i].roots);
        self->config.server_name = gh_str_of(rows[i].name);
        if (rows[i].revoked != NULL) self->config.credentials.revoked = papers_read(rows[i].revoked);
        tls_scene_start(self);
        if (rows[i].words == NULL) tls_scene_ready(self);
        else tls_scene_says(self, rows[i].words);
        assert_int_equal(gh_client_ready(self->client), rows[i].words == NULL);
        tls_scene_end(self);
        redis_server_end(server.redis);
    }
}

static void insecure_looks_at_nothing_and_says_so(void** state)
{
    (void)state;
    tls_server server = tls_server_start("expired", false);
    tls_scene* self = tls_scene_new(server.address);
    self->config.credentials.roots = gh_str_make(NULL, 0);
    self->config.insecure_skip_verification = true;
    tls_scene_start(self);
    assert_non_null(strstr(self->log, "insecure_skip_verification is set"));
    tls_scene_ready(self);
}

/* What a resolver has made a number of is verified by its name. */
static gh_status resolve(void* context, gh_str host, gh_str* numeric)
{
    (void)context, (void)host;
    *numeric = gh_str_literal("127.0.0.1");
    return GH_OK;
}

static void host_names_are_verified(void** state)
{
    (void)state;
    static const char* const names[] = {"store.example", "127.example"};
    tls_server server = tls_server_start("server", false);
    for (int i = 0; i < 2; i++)
    {
        char address[64];
        snprintf(address, sizeof(address), "%s:%u", names[i], server.port);
        tls_scene* self = tls_scene_new(address);
        self->client_config.resolver = resolve;
        tls_scene_start(self);
        if (i == 0) tls_scene_ready(self);
        else tls_scene_says(self, "the server's certificate is for another name (4)");
    }
}

static void clients_show_a_certificate(void** state)
{
    (void)state;
    static const char* const keys[] = {"client.key", "locked.key"};
    tls_server server = tls_server_start("server", true);
    for (int i = 0; i < 2; i++)
    {
        tls_scene* self = tls_scene_new(server.address);
        self->config.credentials.certificate = papers_read("client.pem");
        self->config.credentials.key = papers_read(keys[i]);
        self->config.credentials.key_password = gh_str_literal("secret");
        tls_scene_start(self);
        tls_scene_ready(self);
        tls_scene_use(self);
    }
    tls_scene* none = tls_scene_new(server.address);
    tls_scene_start(none);
    tls_scene_says(none, "client certificate");
    tls_scene* late = tls_scene_new(server.address);
    late->config.credentials.certificate = papers_read("late.pem");
    late->config.credentials.key = papers_read("late.key");
    tls_scene_start(late);
    tls_scene_says(late, "the server says that the client certificate has expired (45)");
}

static void a_plain_server_is_told_apart(void** state)
{
    (void)state;
    redis_server_options options = {.tcp = true};
    redis_server* server = redis_server_start(&options);
    tls_scene* self = tls_scene_new(redis_server_tcp_address(server));
    tls_scene_start(self);
    tls_scene_says(self, "no connection");
    assert_false(gh_client_ready(self->client));
}

/* ---- tickets and renewal ----------------------------------------------------------------------------------------- */

static void reconnect(tls_scene* self, tls_server* server)
{
    uint64_t before = gh_tls_get_stats(self->tls).handshakes;
    redis_server_do(server->redis, "CLIENT KILL TYPE normal");
    TLS_UNTIL(self, gh_tls_get_stats(self->tls).handshakes > before);
    tls_scene_ready(self);
    tls_scene_use(self);
}

static void later_hand_shakes_go_on_from_tickets(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    tls_scene* self = tls_scene_new(server.address);
    self->client_config.wake = false;
    tls_scene_start(self);
    tls_scene_ready(self);
    tls_scene_use(self);
    assert_int_equal(gh_tls_get_stats(self->tls).tickets, 1);
    assert_int_equal(gh_tls_get_stats(self->tls).resumed, 0);
    for (unsigned i = 1; i <= 3; i++)
    {
        reconnect(self, &server);
        assert_int_equal(gh_tls_get_stats(self->tls).resumed, i);
    }
}

static void without_room_for_tickets_there_are_none(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    tls_scene* self = tls_scene_new(server.address);
    self->config.tickets_capacity = 0;
    self->client_config.wake = false;
    tls_scene_start(self);
    tls_scene_ready(self);
    reconnect(self, &server);
    assert_int_equal(gh_tls_get_stats(self->tls).resumed, 0);
}

static void credentials_are_renewed_without_a_restart(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", true);
    tls_scene* self = tls_scene_new(server.address);
    gh_tls_credentials credentials = self->config.credentials;
    self->client_config.wake = false;
    credentials.certificate = papers_read("client.pem");
    credentials.key = papers_read("client.key");
    self->config.credentials = credentials;
    self->config.credentials.certificate = papers_read("late.pem");
    self->config.credentials.key = papers_read("late.key");
    tls_scene_start(self);
    tls_scene_says(self, "the client certificate has expired");
    TLS_UNTIL(self, gh_tls_renew(self->tls, &credentials) == GH_OK);
    tls_scene_ready(self);
    for (int i = 0; i < 5; i++)
    {
        assert_int_equal(gh_tls_renew(self->tls, &credentials), GH_OK); /* while it is up */
        assert_int_equal(gh_tls_get_stats(self->tls).tickets, 0);
        tls_scene_use(self);
    }
    credentials.key = papers_read("server.key");
    assert_int_equal(gh_tls_renew(self->tls, &credentials), GH_INVALID_CREDENTIALS);
    reconnect(self, &server); /* with the old ones */
    credentials = self->config.credentials;
    credentials.roots = papers_read("other.pem");
    credentials.certificate = credentials.key = gh_str_make(NULL, 0);
    assert_int_equal(gh_tls_renew(self->tls, &credentials), GH_OK);
    redis_server_do(server.redis, "CLIENT KILL TYPE normal");
    tls_scene_says(self, "no root of yours has signed");
}

/* What a hand-shake gave that began with the old ones would let the next one go on without a look at the new. */
static void tickets_of_old_credentials_are_not_kept(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    tls_scene* self = tls_scene_new(server.address);
    self->client_config.wake = false;
    tls_scene_start(self);
    TLS_UNTIL(self, gh_tls_get_stats(self->tls).steps > 0);
    assert_int_equal(gh_tls_get_stats(self->tls).handshakes, 0);
    assert_int_equal(gh_tls_renew(self->tls, &self->config.credentials), GH_OK);
    assert_int_equal(gh_tls_renew(self->tls, &self->config.credentials), GH_NO_ROOM);
    tls_scene_ready(self);
    tls_scene_use(self);
    assert_int_equal(gh_tls_get_stats(self->tls).handshakes, 1);
    assert_int_equal(gh_tls_get_stats(self->tls).tickets, 0);
    reconnect(self, &server);
    assert_int_equal(gh_tls_get_stats(self->tls).resumed, 0);
    assert_int_equal(gh_tls_get_stats(self->tls).tickets, 1);
}

/* ---- ticks, memory, threads -------------------------------------------------------------------------------------- */

static void a_tick_has_one_heavy_step(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    for (uint32_t most = 1; most <= 2; most++)
    {
        tls_scene* self = tls_scene_new(server.address);
        uint64_t steps = 0, largest = 0;
        self->config.steps_per_tick = most;
        tls_scene_start(self);
        while (gh_tls_get_stats(self->tls).handshakes < 2)
        {
            tls_scene_tick(self);
            uint64_t now = gh_tls_get_stats(self->tls).steps;
            if (now - steps > largest) largest = now - steps;
            steps = now;
            wait_briefly();
        }
        assert_in_range(largest, 1, most);
        assert_true(steps >= 4); /* the second goes on from a ticket */
    }
}

static void the_heap_is_used_in_hand_shakes_alone(void** state)
{
    (void)state;
    assert_true(heap_watch_works());
    tls_server server = tls_server_start("server", false);
    tls_scene* self = tls_scene_new(server.address);
    self->client_config.wake = false;
    tls_scene_start(self);
    heap_watch_begin();
    while (gh_tls_get_stats(self->tls).handshakes == 0) tls_scene_tick(self);
    uint64_t in_hand_shake = heap_watch_end().total;
    tls_scene_ready(self);
    for (int i = 0; i < 20; i++) tls_scene_use(self); /* with it the tickets that TLS 1.3 sends behind */
    heap_watch_begin();
    for (int i = 0; i < 50; i++) tls_scene_use(self);
    assert_int_equal(heap_watch_end().total, 0);
    if (gh_tls_get_stats(self->tls).arena_bytes == 0) assert_true(in_hand_shake > 100);
    else assert_int_equal(in_hand_shake, 0);
    printf("%d calls of the heap in a hand-shake\n", (int)in_hand_shake);
}

/* Where mbedTLS uses the heap nothing can be spared; else each size works or says what lacks. */
static void memory_that_is_too_small_is_told(void** state)
{
    (void)state;
    tls_scene* whole = tls_scene_new("127.0.0.1:1");
    const size_t full = gh_tls_memory(&whole->config);
    assert_int_equal(tls_scene_init(whole), GH_OK);
    const bool has_arena = gh_tls_get_stats(whole->tls).arena_bytes > 0;
    for (size_t less = 1; less < full; less += less < 256 ? 1 : 509)
    {
        tls_scene* self = tls_scene_new("127.0.0.1:1");
        self->block_size = full - less;
        gh_status status = tls_scene_init(self);
        if (status != GH_OK || !has_arena) assert_int_equal(status, GH_INVALID_MEMORY);
        tls_scene_end(self);
    }
}

/* Wherever in a hand-shake it lacks, that is what is said, and not that a certificate is wrong. */
static void hand_shakes_without_memory_say_so(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    tls_scene* whole = tls_scene_new(server.address);
    const size_t full = gh_tls_memory(&whole->config);
    size_t said = 0;
    assert_int_equal(tls_scene_init(whole), GH_OK);
    if (gh_tls_get_stats(whole->tls).arena_bytes == 0) suite_skip("this mbedTLS uses the heap");
    for (size_t size = full; size > 1009; size -= 1009)
    {
        tls_scene* self = tls_scene_new(server.address);
        self->client_config.wake = false;
        self->block_size = size;
        if (tls_scene_init(self) == GH_INVALID_MEMORY) break;
        tls_scene_connect(self);
        TLS_UNTIL(self, gh_client_ready(self->client) || gh_tls_get_stats(self->tls).failed > 0);
        if (!gh_client_ready(self->client))
        {
            tls_scene_says(self, "the memory of gh_tls_init is used up");
            said++;
        }
        tls_scene_end(self);
    }
    assert_true(said > 10);
}

static void configs_that_make_none(void** state)
{
    (void)state;
    tls_scene* self = tls_scene_new("127.0.0.1:1");
    const gh_tls_config good = self->config;
    static unsigned char block[512 * 1024];
    unsigned char* aligned = block + (16 - (uintptr_t)block % 16) % 16;
    size_t size = sizeof(block) - 16;
    gh_tls* tls = NULL;
#define REFUSED(change, expected)                                                                                      \
    do                                                                                                                 \
    {                                                                                                                  \
        gh_tls_config config = good;                                                                                   \
        change;                                                                                                        \
        assert_int_equal(gh_tls_init(aligned, size, &config, gh_platform_default(), &tls), expected);                  \
        assert_null(tls);                                                                                              \
    } while (0)
    REFUSED(config.struct_size--, GH_INVALID_CONFIG);
    REFUSED(config.version = 0, GH_INVALID_CONFIG);
    REFUSED(config.streams_capacity = 0, GH_INVALID_CAPACITY);
    REFUSED(config.streams_capacity = 4097, GH_INVALID_CAPACITY);
    REFUSED(config.tickets_capacity = 4097, GH_INVALID_CAPACITY);
    REFUSED(config.ticket_bytes = 511, GH_INVALID_CAPACITY);
    REFUSED(config.ticket_bytes = 16385, GH_INVALID_CAPACITY);
    REFUSED(config.steps_per_tick = 0, GH_INVALID_CAPACITY);
    REFUSED(config.steps_per_tick = 65, GH_INVALID_CAPACITY);
    REFUSED(config.step_operations = 1000001, GH_INVALID_CAPACITY);
    REFUSED(config.server_name = gh_str_make(NULL, 1), GH_INVALID_BUFFER);
    REFUSED(config.server_name = gh_str_literal("a\0b"), GH_INVALID_NAME);
    REFUSED(config.server_name = gh_str_make((const char*)block, 254), GH_INVALID_NAME);
    REFUSED(config.credentials.roots = gh_str_make(NULL, 0), GH_INVALID_CREDENTIALS);
    REFUSED(config.credentials.roots = gh_str_make(NULL, 1), GH_INVALID_BUFFER);
    REFUSED(config.credentials.roots = gh_str_literal("nonsense"), GH_INVALID_CREDENTIALS);
    REFUSED(config.credentials.roots = papers_read("root.key"), GH_INVALID_CREDENTIALS);
    REFUSED(config.credentials.revoked = papers_read("root.pem"), GH_INVALID_CREDENTIALS);
    REFUSED(config.credentials.certificate = papers_read("client.pem"), GH_INVALID_CREDENTIALS);
    REFUSED(config.credentials.key = papers_read("client.key"), GH_INVALID_CREDENTIALS);
    REFUSED((config.credentials.certificate = papers_read("client.pem"),
             config.credentials.key = papers_read("server.key")),
            GH_INVALID_CREDENTIALS);
    REFUSED((config.credentials.certificate = papers_read("client.pem"),
             config.credentials.key = papers_read("locked.key"),
             config.credentials.key_password = gh_str_literal("wrong")),
            GH_INVALID_CREDENTIALS);
#undef REFUSED
    assert_int_equal(gh_tls_init(aligned, size, &good, NULL, &tls), GH_INVALID_PLATFORM);
    assert_int_equal(gh_tls_init(aligned, size, &good, gh_platform_default(), NULL), GH_INVALID_OUT);
    assert_int_equal(gh_tls_init(NULL, size, &good, gh_platform_default(), &tls), GH_INVALID_MEMORY);
    assert_int_equal(gh_tls_init(aligned + 8, size, &good, gh_platform_default(), &tls), GH_INVALID_MEMORY);
    assert_int_equal(gh_tls_memory(NULL), 0);
    gh_tls_shutdown(NULL);
}

static gh_str joined(gh_str before, gh_str between, gh_str behind)
{
    const size_t size = before.size + between.size + behind.size;
    char* text = malloc(size + 1);
    assert_non_null(text);
    cleanup_add(free, text);
    memcpy(text, before.bytes, before.size);
    memcpy(text + before.size, between.bytes, between.size);
    memcpy(text + before.size + between.size, behind.bytes, behind.size);
    return gh_str_make(text, size);
}

static gh_str half_of(gh_str text)
{
    return gh_str_make(text.bytes, text.size / 2);
}

/* What stands around the pieces is nobody's business; but each piece is read, or all are refused. */
static void papers_are_read_to_their_end(void** state)
{
    (void)state;
    const gh_str words = gh_str_literal("\n# and what is behind it\n\n");
    const gh_str nul = gh_str_literal("\0");
    const gh_str root = papers_read("root.pem");
    const gh_str other = papers_read("other.pem");
    const gh_str list = papers_read("list.pem");
    const gh_str client = joined(papers_read("client.pem"), words, papers_read("client.key"));
    const struct
    {
        gh_str roots;
        gh_str revoked;
        gh_status status;
    } rows[] = {
        {joined(root, words, other), list, GH_OK},
        {joined(words, root, words), joined(words, list, words), GH_OK},
        {root, joined(list, words, list), GH_OK},
        {root, gh_str_make(list.bytes, list.size - 1), GH_OK},
        {joined(root, words, half_of(other)), list, GH_INVALID_CREDENTIALS},
        {joined(root, nul, other), list, GH_INVALID_CREDENTIALS},
        {root, joined(list, words, half_of(list)), GH_INVALID_CREDENTIALS},
        {root, joined(list, nul, list), GH_INVALID_CREDENTIALS},
        {root, half_of(list), GH_INVALID_CREDENTIALS},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        tls_scene* self = tls_scene_new("127.0.0.1:1");
        self->config.credentials.roots = rows[i].roots;
        self->config.credentials.revoked = rows[i].revoked;
        self->config.credentials.certificate = self->config.credentials.key = client; /* one file has both */
        const gh_status status = tls_scene_init(self);
        if (status != rows[i].status) fail_msg("row %zu: %s", i, gh_status_name(status));
        tls_scene_end(self);
    }
}

/* Assertions are for the main thread, so this one only counts. */
static void* use_on_a_thread(void* context)
{
    tls_scene* self = context;
    uint64_t end_us = wait_cap_us();
    while (!gh_client_ready(self->client) && wait_now_us() < end_us)
    {
        (void)gh_tick(self->client, wait_now_us(), 0);
        wait_briefly();
    }
    return NULL;
}

static void two_threads_have_one_each(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    for (int round = 0; round < 10; round++)
    {
        tls_scene* scenes[2];
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
        {
            scenes[i] = tls_scene_new(server.address);
            tls_scene_start(scenes[i]);
        }
        for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, use_on_a_thread, scenes[i]), 0);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; i++)
        {
            assert_true(gh_client_ready(scenes[i]->client));
            tls_scene_use(scenes[i]);
            tls_scene_end(scenes[i]);
        }
    }
}

TEST_FILE(tls, cmocka_unit_test(locks_pass_through_it), cmocka_unit_test(long_bodies_pass_whole),
          cmocka_unit_test(what_is_wrong_is_said), cmocka_unit_test(insecure_looks_at_nothing_and_says_so),
          cmocka_unit_test(host_names_are_verified), cmocka_unit_test(clients_show_a_certificate),
          cmocka_unit_test(a_plain_server_is_told_apart), cmocka_unit_test(later_hand_shakes_go_on_from_tickets),
          cmocka_unit_test(without_room_for_tickets_there_are_none),
          cmocka_unit_test(credentials_are_renewed_without_a_restart),
          cmocka_unit_test(tickets_of_old_credentials_are_not_kept), cmocka_unit_test(a_tick_has_one_heavy_step),
          cmocka_unit_test(the_heap_is_used_in_hand_shakes_alone), cmocka_unit_test(memory_that_is_too_small_is_told),
          cmocka_unit_test(hand_shakes_without_memory_say_so), cmocka_unit_test(configs_that_make_none),
          cmocka_unit_test(papers_are_read_to_their_end), cmocka_unit_test(two_threads_have_one_each));
