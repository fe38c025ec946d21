/* garbage.c -- lists what can be planted: each type in place of another, each value in place of each word, entries that
   are missing, and entries too many. */

#include "support/faults/garbage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_SIZE  300
#define CROWD_STEP 20000u /* entries of a command: it must not seem to hang on a slow machine */

typedef struct piece
{
    const char* bytes;
    size_t size;
} piece;

#define PIECE(text) {text, sizeof(text) - 1}

static char long_text[LONG_SIZE];

static const piece pieces[] = {
    PIECE("-1"),
    PIECE("0"),
    PIECE("1"),
    PIECE("01"),
    PIECE("4294967295"),
    PIECE("4294967296"),
    PIECE("9007199254740991"),
    PIECE("9007199254740992"),
    PIECE("9007199254740993"),
    PIECE("9223372036854775807"),
    PIECE("-9223372036854775808"),
    PIECE("18446744073709551615"),
    PIECE("12345678901234567890123"),
    PIECE("1e400"),
    PIECE("1e17"),
    PIECE("0.5"),
    PIECE("nan"),
    PIECE("inf"),
    PIECE("-inf"),
    PIECE(""),
    PIECE(" 1"),
    PIECE("1 "),
    PIECE("0x10"),
    PIECE("\x00\xff\x80\r\n"),
    PIECE("\x1b[2J"),
    PIECE("x"),
    {long_text, LONG_SIZE},
};
#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/* Scores that a zset takes. */
static const char* const scores[] = {
    "-1",   "0",     "0.5",    "1",   "4294967295", "9007199254740991", "9007199254740992", "9223372036854775807",
    "1e17", "1e300", "-1e300", "inf", "-inf"};
#define SCORES (sizeof(scores) / sizeof(scores[0]))

/* ---- commands ------------------------------------------------------------------------------------------ */

static void add_word(garbage_command* command, const char* bytes, size_t size)
{
    char* copy = malloc(size + 1);
    assert_non_null(copy);
    assert_true(command->count < GARBAGE_WORDS_MAX);
    if (size > 0) memcpy(copy, bytes, size);
    copy[size] = '\0';
    command->words[command->count] = copy;
    command->sizes[command->count++] = size;
}

static void add_text(garbage_command* command, const char* text)
{
    add_word(command, text, strlen(text));
}

/* The words of a line. */
static void add_line(garbage_command* command, const char* line)
{
    for (size_t size; *line != '\0'; line += size + (line[size] == ' '))
    {
        size = strcspn(line, " ");
        add_word(command, line, size);
    }
}

static redisReply* run_command(drill* self, const garbage_command* command)
{
    static const char* const formats[] = {
        "", "%b", "%b %b", "%b %b %b", "%b %b %b %b", "%b %b %b %b %b", "%b %b %b %b %b %b"};
    char* const* w = command->words;
    const size_t* s = command->sizes;
    return redis_server_command(self->server, formats[command->count], w[0], s[0], w[1], s[1], w[2], s[2], w[3], s[3],
                                w[4], s[4], w[5], s[5]);
}

void garbage_plant_it(drill* self, const garbage_plant* plant)
{
    for (int i = 0; i < 2 && plant->commands[i].count > 0; i++)
    {
        redisReply* reply = run_command(self, &plant->commands[i]);
        if (reply->type == REDIS_REPLY_ERROR) fail_msg("%s: %s", plant->what, reply->str);
        freeReplyObject(reply);
    }
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static garbage_plant* add_plant(garbage_plants* plants, const char* key, const char* place)
{
    if (plants->count % 256 == 0)
    {
        plants->list = realloc(plants->list, (plants->count + 256) * sizeof(*plants->list));
        assert_non_null(plants->list);
    }
    garbage_plant* plant = &plants->list[plants->count++];
    memset(plant, 0, sizeof(*plant));
    snprintf(plant->place, sizeof(plant->place), "%s%s%s", key, place[0] == '\0' ? "" : " ", place);
    return plant;
}

/* Bytes that a terminal shows as they are. */
static void print_bytes(char* to, size_t capacity, const char* bytes, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < size && i < 40 && used + 8 < capacity; i++)
    {
        bool plain = bytes[i] >= ' ' && bytes[i] < 127;
        used += (size_t)snprintf(to + used, capacity - used, plain ? "%c" : "\\x%02x", (unsigned char)bytes[i]);
    }
    snprintf(to + used, capacity - used, "%s", size > 40 ? "..." : "");
}

static void name_plant(garbage_plant* plant, const char* verb, const char* bytes, size_t size)
{
    char shown[80];
    print_bytes(shown, sizeof(shown), bytes, size);
    snprintf(plant->what, sizeof(plant->what), "%s %s \"%s\"", plant->place, verb, shown);
}

/* What stands there after another value took its place. */
typedef void (*put_value)(garbage_plants* plants, const char* key, const char* place, const piece* at,
                          const char* value, size_t size, const char* shown, size_t shown_size);

static size_t words_of(const piece* text, piece* words, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < text->size && count < most;)
    {
        size_t size = 0;
        while (i + size < text->size && text->bytes[i + size] != ' ') size++;
        words[count++] = (piece){text->bytes + i, size};
        i += size + 1;
    }
    return count;
}

/* Each piece in place of each word, and of the whole; a half of it, twice of it, and more behind it. */
static void each_value(garbage_plants* plants, const char* key, const char* place, const piece* at, const piece* value,
                       put_value put)
{
    enum
    {
        WORDS_MAX = 8,
        SIZE_MAX_KEPT = 2048
    };
    static char text[2 * SIZE_MAX_KEPT + LONG_SIZE];
    piece words[WORDS_MAX];
    piece kept = {value->bytes, value->size < SIZE_MAX_KEPT ? value->size : SIZE_MAX_KEPT};
    size_t count = words_of(&kept, words, WORDS_MAX);
    char where[64];
    for (size_t i = 0; i < PIECES; i++)
    {
        put(plants, key, place, at, pieces[i].bytes, pieces[i].size, pieces[i].bytes, pieces[i].size);
        for (size_t w = 0; w < count && count > 1; w++)
        {
            size_t before = (size_t)(words[w].bytes - kept.bytes);
            size_t after = kept.size - before - words[w].size;
            memcpy(text, kept.bytes, before);
            memcpy(text + before, pieces[i].bytes, pieces[i].size);
            memcpy(text + before + pieces[i].size, words[w].bytes + words[w].size, after);
            snprintf(where, sizeof(where), "%s%sword %zu", place, place[0] == '\0' ? "" : " ", w + 1);
            put(plants, key, where, at, text, before + pieces[i].size + after, pieces[i].bytes, pieces[i].size);
        }
    }
    memcpy(text, kept.bytes, kept.size);
    put(plants, key, place, at, text, kept.size / 2, text, kept.size / 2);
    memcpy(text + kept.size, " x 7", 4);
    put(plants, key, place, at, text, kept.size + 4, text, kept.size + 4);
}

static void put_string(garbage_plants* plants, const char* key, const char* place, const piece* at, const char* value,
                       size_t size, const char* shown, size_t shown_size)
{
    garbage_plant* plant = add_plant(plants, key, place);
    (void)at;
    add_line(&plant->commands[0], "SET");
    add_text(&plant->commands[0], key);
    add_word(&plant->commands[0], value, size);
    add_text(&plant->commands[0], "KEEPTTL");
    name_plant(plant, "=", shown, shown_size);
}

static void put_field(garbage_plants* plants, const char* key, const char* place, const piece* at, const char* value,
                      size_t size, const char* shown, size_t shown_size)
{
    garbage_plant* plant = add_plant(plants, key, place);
    add_line(&plant->commands[0], "HSET");
    add_text(&plant->commands[0], key);
    add_word(&plant->commands[0], at->bytes, at->size);
    add_word(&plant->commands[0], value, size);
    name_plant(plant, "=", shown, shown_size);
}

static void put_element(garbage_plants* plants, const char* key, const char* place, const piece* at, const char* value,
                        size_t size, const char* shown, size_t shown_size)
{
    garbage_plant* plant = add_plant(plants, key, place);
    add_line(&plant->commands[0], "LSET");
    add_text(&plant->commands[0], key);
    add_word(&plant->commands[0], at->bytes, at->size);
    add_word(&plant->commands[0], value, size);
    name_plant(plant, "=", shown, shown_size);
}

/* "<score> <member>" stands in `at`: the member goes, another one with its score comes. */
static void put_member(garbage_plants* plants, const char* key, const char* place, const piece* at, const char* value,
                       size_t size, const char* shown, size_t shown_size)
{
    size_t score = strcspn(at->bytes, " ");
    garbage_plant* plant = add_plant(plants, key, place);
    add_line(&plant->commands[0], "ZREM");
    add_text(&plant->commands[0], key);
    add_word(&plant->commands[0], at->bytes + score + 1, at->size - score - 1);
    add_line(&plant->commands[1], "ZADD");
    add_text(&plant->commands[1], key);
    add_word(&plant->commands[1], at->bytes, score);
    add_word(&plant->commands[1], value, size);
    name_plant(plant, "member", shown, shown_size);
}

static void put_score(garbage_plants* plants, const char* key, const char* place, const piece* member,
                      const char* score)
{
    garbage_plant* plant = add_plant(plants, key, place);
    add_line(&plant->commands[0], "ZADD");
    add_text(&plant->commands[0], key);
    add_text(&plant->commands[0], score);
    add_word(&plant->commands[0], member->bytes, member->size);
    name_plant(plant, "score", score, strlen(score));
}

/* One command on the key and what is said behind it. */
static void put_line(garbage_plants* plants, const char* key, const char* place, const char* verb, const piece* first,
                     const piece* second)
{
    garbage_plant* plant = add_plant(plants, key, place);
    add_text(&plant->commands[0], verb);
    add_text(&plant->commands[0], key);
    if (first != NULL) add_word(&plant->commands[0], first->bytes, first->size);
    if (second != NULL) add_word(&plant->commands[0], second->bytes, second->size);
    if (first == NULL) snprintf(plant->what, sizeof(plant->what), "%s %s", plant->place, verb);
    else name_plant(plant, verb, first->bytes, first->size);
}

/* ---- what is in a key ---------------------------------------------------------------------------------- */

static piece piece_of(const redisReply* reply)
{
    return (piece){reply->str, reply->len};
}

static void list_string(drill* self, garbage_plants* plants, const char* key)
{
    redisReply* reply = redis_server_command(self->server, "GET %s", key);
    piece value = piece_of(reply);
    each_value(plants, key, "", NULL, &value, put_string);
    freeReplyObject(reply);
}

static void list_hash(drill* self, garbage_plants* plants, const char* key)
{
    redisReply* reply = redis_server_command(self->server, "HGETALL %s", key);
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
    {
        char place[64];
        piece field = piece_of(reply->element[i]);
        piece value = piece_of(reply->element[i + 1]);
        print_bytes(place, sizeof(place), field.bytes, field.size);
        each_value(plants, key, place, &field, &value, put_field);
        put_line(plants, key, place, "HDEL", &field, NULL);
    }
    freeReplyObject(reply);
    for (size_t i = 0; i < PIECES; i++)
        put_line(plants, key, "more", "HSET", &pieces[i], &pieces[(i * 7 + 3) % PIECES]);
}

static void list_list(drill* self, garbage_plants* plants, const char* key)
{
    redisReply* reply = redis_server_command(self->server, "LRANGE %s 0 -1", key);
    for (size_t i = 0; i < reply->elements; i++)
    {
        char place[24];
        snprintf(place, sizeof(place), "%zu", i);
        piece index = {place, strlen(place)};
        piece value = piece_of(reply->element[i]);
        if (i == 0 || i + 1 == reply->elements || i == reply->elements / 2)
            each_value(plants, key, place, &index, &value, put_element);
    }
    freeReplyObject(reply);
    for (size_t i = 0; i < PIECES; i++)
    {
        put_line(plants, key, "more", "LPUSH", &pieces[i], NULL);
        put_line(plants, key, "more", "RPUSH", &pieces[i], NULL);
    }
    put_line(plants, key, "", "LPOP", NULL, NULL);
    put_line(plants, key, "", "RPOP", NULL, NULL);
}

static void list_zset(drill* self, garbage_plants* plants, const char* key)
{
    redisReply* reply = redis_server_command(self->server, "ZRANGE %s 0 -1 WITHSCORES", key);
    for (size_t i = 0; i + 1 < reply->elements && i < 12; i += 2)
    {
        char place[64];
        char at[512];
        piece member = piece_of(reply->element[i]);
        print_bytes(place, sizeof(place), member.bytes, member.size);
        int head = snprintf(at, sizeof(at), "%s ", reply->element[i + 1]->str);
        assert_true((size_t)head + member.size < sizeof(at));
        memcpy(at + head, member.bytes, member.size);
        piece both = {at, (size_t)head + member.size};
        each_value(plants, key, place, &both, &member, put_member);
        for (size_t k = 0; k < SCORES; k++) put_score(plants, key, place, &member, scores[k]);
        put_line(plants, key, place, "ZREM", &member, NULL);
    }
    freeReplyObject(reply);
    for (size_t i = 0; i < PIECES; i++) put_score(plants, key, "more", &pieces[i], scores[i % SCORES]);
}

/* A key of another type, the key gone, and one that is there although it should not be. */
static void list_types(garbage_plants* plants, const char* key, const char* type, bool is_there)
{
    static const char* const kinds[][2] = {{"string", "SET %s 7"},  {"list", "RPUSH %s 7"},
                                           {"set", "SADD %s 7"},    {"zset", "ZADD %s 7 7"},
                                           {"hash", "HSET %s 7 7"}, {"stream", "XADD %s * 7 7"}};
    for (size_t i = 0; i < 6; i++)
    {
        char line[160];
        if (is_there && strcmp(kinds[i][0], type) == 0) continue;
        garbage_plant* plant = add_plant(plants, key, "");
        snprintf(line, sizeof(line), kinds[i][1], key);
        add_text(&plant->commands[0], "DEL");
        add_text(&plant->commands[0], key);
        add_line(&plant->commands[1], line);
        snprintf(plant->what, sizeof(plant->what), "%s a %s, not a %s", key, kinds[i][0], type);
    }
    if (is_there) put_line(plants, key, "", "DEL", NULL, NULL);
}

static void list_key(drill* self, garbage_plants* plants, const char* key, const char* type)
{
    bool is_there = redis_server_integer(self->server, "EXISTS %s", key) == 1;
    list_types(plants, key, type, is_there);
    if (!is_there) return;
    if (strcmp(type, "string") == 0) list_string(self, plants, key);
    else if (strcmp(type, "hash") == 0) list_hash(self, plants, key);
    else if (strcmp(type, "list") == 0) list_list(self, plants, key);
    else if (strcmp(type, "zset") == 0) list_zset(self, plants, key);
    else fail_msg("%s has a type that garbage.c does not know: %s", key, type);
}

garbage_plants garbage_list(drill* self, const page_table* keys)
{
    garbage_plants plants = {NULL, 0};
    memset(long_text, 'y', sizeof(long_text));
    snprintf(add_plant(&plants, "nothing", "")->what, 16, "nothing");
    for (size_t i = 0; i < keys->count; i++)
    {
        const char* row = garbage_key_of(&keys->rows[i]);
        char key[128];
        if (!drill_has_row(self->system, row)) continue;
        snprintf(key, sizeof(key), "%s", drill_key(row));
        list_key(self, &plants, key, garbage_type_of(&keys->rows[i]));
    }
    return plants;
}

void garbage_free(garbage_plants* plants)
{
    for (size_t i = 0; i < plants->count; i++)
        for (int c = 0; c < 2; c++)
            for (int w = 0; w < plants->list[i].commands[c].count; w++) free(plants->list[i].commands[c].words[w]);
    free(plants->list);
}

/* ---- crowds -------------------------------------------------------------------------------------------- */

/* Members as nobody writes them; tokens whose time was over long ago; tokens with a time that is still to come. Values
   are copies of one that is there. */
static const char crowd_script[] =
    "local key, kind, crowd, first, last = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]) "
    "local now = tonumber(redis.call('TIME')[1]) "
    "local sample = '0' "
    "if kind == 'hash' then sample = redis.call('HRANDFIELD', key, 1, 'WITHVALUES')[2] or '1 1 1' "
    "elseif kind == 'list' then sample = redis.call('LINDEX', key, 0) or 'x' end "
    "for i = first, last do "
    "  local name = crowd == '0' and 'x' .. i or string.format('%016x:%016x', i, i) "
    "  if kind == 'zset' then "
    "    local score = crowd == '0' and i or crowd == '1' and 1 or (now + 1000) * 1000000 + i "
    "    redis.call('ZADD', key, string.format('%.0f', score), name) "
    "  elseif kind == 'hash' then "
    "    if crowd == '1' then name = string.sub(name, 1, 16) end "
    "    redis.call('HSET', key, name, crowd == '0' and '0' or sample) "
    "  else redis.call('RPUSH', key, crowd == '0' and name or sample) end "
    "end";

void garbage_crowd(drill* self, const char* key, const char* type, int crowd, unsigned entries)
{
    redis_server_do(self->server, "CONFIG SET lua-time-limit 60000");
    for (unsigned first = 1; first <= entries; first += CROWD_STEP)
    {
        unsigned last = first + CROWD_STEP - 1 < entries ? first + CROWD_STEP - 1 : entries;
        redis_server_do(self->server, "EVAL %s 1 %s %s %d %u %u", crowd_script, key, type, crowd, first, last);
    }
    redis_server_do(self->server, "CONFIG SET lua-time-limit 100");
}

/* ---- the page ------------------------------------------------------------------------------------------ */

page_table garbage_keys(void)
{
    return page_read_table("sdk/KEYS.md", "| key | type |");
}

const char* garbage_key_of(const page_row* row)
{
    return row->cells[0];
}

const char* garbage_type_of(const page_row* row)
{
    return row->cells[1];
}
