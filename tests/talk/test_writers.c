/* Any server of a fleet may write to any object: thousands of clients write to one chat, one mailbox, one guild and one
   list of contacts within ten minutes. Nobody is refused, no script takes long for it, and what is kept of the writers
   is small and goes by itself. Most of them are one client's request with other names on it. tests/writers.sh
   has 10,000. */

#include "support/faults/half.h"
#include "support/scene/talk.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITERS_SMALL 1500u
#define REAL_SMALL    12u
#define WRITERS_LARGE 10000u
#define REAL_LARGE    300u
#define MARKS_MAX     1258291ll /* 1.2 MB of 10,000 */
#define SLOW_US       "500"     /* on a quiet machine, which 10,000 want; there, too, one in 10 may be held up */
#define MEAN_US_MAX   250.0     /* of the server's own time, for a request as a whole */
#define GONE_US       (UINT64_C(1200) * SECOND_US)
#define REST_BYTES    16384ll /* that may stay: the state, and who wrote since */

typedef struct write_kind
{
    const drill_system* system;
    const char* script;
    const char* data; /* the parts that hold what was written, a letter each */
    gh_status (*write)(game* from, unsigned number);
} write_kind;

/* ---- one write of each kind ---------------------------------------------------------------------------- */

#define NAME gh_str_literal(DRILL_NAME)

static gh_status write_mail(game* from, unsigned number)
{
    gh_mailbox_push* op = GAME_NEW(from, gh_mailbox_push);
    gh_post* post = GAME_NEW(from, gh_post);
    gh_mailbox_config config = gh_mailbox_config_default();
    (void)number;
    config.capacity = GH_MAILBOX_CAPACITY_MAX;
    post->sender = gh_str_literal("jeff");
    post->body = gh_str_literal("x");
    assert_status(gh_mailbox_push_begin(op, ON_MAILBOX_WITH(from->client, NAME, &config), post, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status write_chat(game* from, unsigned number)
{
    gh_chat_send* op = GAME_NEW(from, gh_chat_send);
    gh_post* post = GAME_NEW(from, gh_post);
    (void)number;
    post->sender = gh_str_literal(DRILL_PLAYER);
    post->body = gh_str_literal("x");
    assert_status(gh_chat_send_begin(op, ON_CHAT(from->client, NAME), post, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status write_guild(game* from, unsigned number)
{
    gh_guild_change* op = GAME_NEW(from, gh_guild_change);
    gh_guild_member* member = GAME_NEW(from, gh_guild_member);
    member->name = number % 2 == 0 ? gh_str_literal("jenny") : gh_str_literal("jeff");
    assert_status(gh_guild_join_begin(op, a_guild(from->client, NAME, NULL), member, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static gh_status write_contacts(game* from, unsigned number)
{
    gh_contacts_change* op = GAME_NEW(from, gh_contacts_change);
    gh_str name = number % 2 == 0 ? gh_str_literal("jenny") : gh_str_literal("jeff");
    assert_status(gh_contacts_touch_begin(op, some_contacts(from->client, NAME, NULL), name), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    return gh_op_poll(&op->op);
}

static const write_kind mailbox_kind = {&drill_mailbox, "mailbox_push", "m", write_mail};
static const write_kind chat_kind = {&drill_chat, "chat_send", "mv", write_chat};
static const write_kind guild_kind = {&drill_guild, "guild_join", "m", write_guild};
static const write_kind contacts_kind = {&drill_contacts, "contacts_touch", "lzb", write_contacts};

/* ---- many ---------------------------------------------------------------------------------------------- */

/* The request as it was sent, with the name of its client where it stands in it. */
typedef struct request_text
{
    char digest[64];
    redisReply* keys;
    redisReply* arguments;
    char client[17];
} request_text;

static half_script script_named(const char* name)
{
    for (size_t i = 0; i < half_count(); i++)
        if (strcmp(half_at(i).name, name) == 0) return half_at(i);
    fail_msg("there is no script %s", name);
    return half_at(0);
}

static request_text record_request(drill* scene, const write_kind* kind)
{
    request_text self;
    half_script script = script_named(kind->script);
    snprintf(self.client, sizeof(self.client), "%016llx", (unsigned long long)gh_client_id(scene->game->client));
    assert_status(kind->write(scene->game, 0), GH_OK); /* it knows the digest from now on */
    assert_true(half_digest(scene, script, self.digest));
    assert_true(half_install(scene, script, HALF_WHOLE));
    assert_status(kind->write(scene->game, 0), GH_OK);
    half_remove(scene, script);
    self.keys = redis_server_command(scene->server, "LRANGE half:keys 0 -1");
    self.arguments = redis_server_command(scene->server, "LRANGE half:arguments 0 -1");
    assert_true(self.keys->elements > 0 && self.arguments->elements > 0);
    redis_server_do(scene->server, "DEL half:keys half:arguments");
    return self;
}

/* The names of the writer in place of the recorded one, whose request may be carried out whenever it comes. */
static void rename_writer(request_text* self, unsigned writer)
{
    char name[17];
    snprintf(name, sizeof(name), "%016llx", writer * 0x9e3779b97f4a7c15ull + 1);
    for (size_t i = 0; i < self->arguments->elements; i++)
    {
        redisReply* word = self->arguments->element[i];
        if (word->len < 16 || strncmp(word->str, self->client, 16) != 0) continue;
        memcpy(word->str, name, 16);
        if (word->len > 34) memset(word->str + 34, '0', word->len - 34); /* "<client>:<sequence>:<not after>" */
    }
    for (size_t i = 0; i < self->keys->elements; i++) /* "...:w9f" is the shelf of those whose names begin with 9f */
    {
        redisReply* key = self->keys->element[i];
        char shelf[8];
        snprintf(shelf, sizeof(shelf), ":w%.2s", self->client);
        if (strcmp(key->str + key->len - 4, shelf) == 0) memcpy(key->str + key->len - 2, name, 2);
    }
    memcpy(self->client, name, sizeof(name));
}

static void send_as(drill* scene, request_text* self, unsigned writer)
{
    const char* words[128];
    size_t sizes[128];
    size_t count = 0;
    char keys[16];
    rename_writer(self, writer);
    snprintf(keys, sizeof(keys), "%zu", self->keys->elements);
    assert_true(self->keys->elements + self->arguments->elements + 3 < 128);
    words[count] = "EVALSHA", sizes[count++] = 7;
    words[count] = self->digest, sizes[count++] = 40;
    words[count] = keys, sizes[count++] = strlen(keys);
    for (size_t i = 0; i < self->keys->elements; i++, count++)
        words[count] = self->keys->element[i]->str, sizes[count] = self->keys->element[i]->len;
    for (size_t i = 0; i < self->arguments->elements; i++, count++)
        words[count] = self->arguments->element[i]->str, sizes[count] = self->arguments->element[i]->len;
    redisReply* reply = redis_server_words(scene->server, words, sizes, count);
    long long numbers[2] = {0, -1};
    if (redis_server_numbers(reply, numbers, 2) < 2 || numbers[1] != 0)
        fail_msg("writer %u was answered %lld %s", writer, numbers[1], reply->str == NULL ? "" : reply->str);
    freeReplyObject(reply);
}

/* ---- what is kept of them ------------------------------------------------------------------------------ */

static long long bytes_of_marks(drill* scene, const write_kind* kind)
{
    redisReply* keys = redis_server_command(scene->server, "KEYS gh:{%s:*", kind->system->name);
    long long sum = 0;
    for (size_t i = 0; i < keys->elements; i++)
    {
        const char* key = keys->element[i]->str;
        const char* part = strrchr(key, ':') + 1;
        if (strlen(part) == 1 && strchr(kind->data, part[0]) != NULL) continue;
        sum += redis_server_integer(scene->server, "MEMORY USAGE %s SAMPLES 0", key);
    }
    freeReplyObject(keys);
    return sum;
}

static size_t slow_scripts(drill* scene)
{
    redisReply* log = redis_server_command(scene->server, "SLOWLOG GET -1");
    size_t count = 0;
    for (size_t i = 0; i < log->elements; i++)
        count += strcmp(log->element[i]->element[3]->element[0]->str, "EVALSHA") == 0;
    freeReplyObject(log);
    return count;
}

static double number_behind(const char* text, const char* label)
{
    const char* place = strstr(text, label);
    if (place == NULL) fail_msg("the server does not tell %s", label);
    return strtod(place + strlen(label), NULL);
}

/* What the server has worked: unlike the time of its scripts, this leaves out when others had the processor. */
static double server_work_us(drill* scene)
{
    const char* text = redis_server_text(scene->server, "INFO cpu");
    return 1e6 * (number_behind(text, "used_cpu_user:") + number_behind(text, "used_cpu_sys:"));
}

static double scripts_run(drill* scene)
{
    const char* stats = strstr(redis_server_text(scene->server, "INFO commandstats"), "cmdstat_evalsha:");
    return number_behind(stats == NULL ? "" : stats, "calls=");
}

static void write_by_many(const write_kind* kind)
{
    bool large = getenv("GUILDHALL_WRITERS") != NULL;
    unsigned writers = large ? WRITERS_LARGE : WRITERS_SMALL;
    unsigned clients = large ? REAL_LARGE : REAL_SMALL;
    drill* scene = drill_start_with_clock(kind->system);
    if (kind == &chat_kind) assert_status(chat_make(scene->game, DRILL_NAME, DRILL_PLAYER, 100, 10), GH_OK);
    request_text request = record_request(scene, kind);
    redis_server_do(scene->server, "CONFIG SET slowlog-log-slower-than " SLOW_US);
    redis_server_do(scene->server, "CONFIG SET slowlog-max-len 20000");
    redis_server_do(scene->server, "SLOWLOG RESET");
    redis_server_do(scene->server, "CONFIG RESETSTAT");
    double worked_us = server_work_us(scene);
    for (unsigned i = 0; i < writers; i++) send_as(scene, &request, i);
    for (unsigned i = 0; i < clients; i++)
    {
        game* another = game_start_ready(redis_server_address(scene->server));
        assert_status(kind->write(another, i), GH_OK);
        game_end(another);
    }
    double mean_us = (server_work_us(scene) - worked_us) / scripts_run(scene);
    size_t slow = slow_scripts(scene);
    long long bytes = bytes_of_marks(scene, kind);
    redis_server_shift_clock(scene->server, (int64_t)GONE_US);
    drill_jump(scene, GONE_US);
    assert_status(kind->write(scene->game, 1), GH_OK);
    long long rest = bytes_of_marks(scene, kind);
    freeReplyObject(request.keys);
    freeReplyObject(request.arguments);
    if (large)
        printf("    writers: %s: %lld bytes, %lld later, %zu slow, %.0f us of work each\n", kind->system->name, bytes,
               rest, slow, mean_us);
    if (mean_us > MEAN_US_MAX) fail_msg("a write costs %.0f us on average", mean_us);
    if (large && slow > writers / 10) fail_msg("%zu of %u scripts take more than %s us", slow, writers, SLOW_US);
    if (bytes > MARKS_MAX) fail_msg("marks take %lld bytes", bytes);
    if (rest > REST_BYTES) fail_msg("marks take %lld bytes after 20 minutes, %lld before", rest, bytes);
}

static void mailbox(void** state)
{
    (void)state;
    write_by_many(&mailbox_kind);
}

static void chat(void** state)
{
    (void)state;
    write_by_many(&chat_kind);
}

static void guild(void** state)
{
    (void)state;
    write_by_many(&guild_kind);
}

static void contacts(void** state)
{
    (void)state;
    write_by_many(&contacts_kind);
}

TEST_FILE(writers, cmocka_unit_test(mailbox), cmocka_unit_test(chat), cmocka_unit_test(guild),
          cmocka_unit_test(contacts));
