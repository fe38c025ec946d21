/* slots_answer.c -- answers of CLUSTER SLOTS, printed, and read in two ways. */

#include "wire/slots_answer.h"

#include "support/suite.h"

#include <hiredis/hiredis.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void slots_print(byte_buffer* to, const char* format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    int size = vsnprintf(NULL, 0, format, values);
    assert_true(size >= 0);
    vsnprintf(buffer_reserve(to, (size_t)size + 1), (size_t)size + 1, format, again);
    to->size += (size_t)size;
    va_end(again);
    va_end(values);
}

void slots_put_node(byte_buffer* to, const char* host, const char* port, const char* name)
{
    slots_print(to, "*4\r\n");
    if (host == NULL) slots_print(to, "$-1\r\n");
    else slots_print(to, "$%zu\r\n%s\r\n", strlen(host), host);
    slots_print(to, ":%s\r\n$40\r\n0123456789abcdef0123456789abcdef01234567\r\n", port);
    if (name == NULL) slots_print(to, "*0\r\n");
    else slots_print(to, "*4\r\n$2\r\nip\r\n$8\r\n10.0.0.7\r\n$8\r\nhostname\r\n$%zu\r\n%s\r\n", strlen(name), name);
}

/* ---- by slots_reader.h ------------------------------------------------------------------------------------------- */

static void put_endpoint(byte_buffer* text, gh_endpoint endpoint)
{
    switch (endpoint.kind)
    {
    case GH_ENDPOINT_NOWHERE: slots_print(text, "nowhere"); break;
    case GH_ENDPOINT_BAD: slots_print(text, "bad"); break;
    case GH_ENDPOINT_ASKED: slots_print(text, "asked:%u", endpoint.port); break;
    case GH_ENDPOINT_GIVEN:
        slots_print(text, "%.*s:%u", (int)endpoint.host.size, endpoint.host.bytes, endpoint.port);
        break;
    }
}

static void put_row(byte_buffer* text, unsigned first, unsigned last, gh_endpoint endpoint, gh_str name,
                    unsigned replicas)
{
    slots_print(text, "%u-%u ", first, last);
    put_endpoint(text, endpoint);
    if (name.size == 0) slots_print(text, " - %u\n", replicas);
    else slots_print(text, " %.*s %u\n", (int)name.size, name.bytes, replicas);
}

static void put_read(byte_buffer* text, const gh_slots_reader* reader, gh_slots_read result)
{
    static const char* const verdicts[] = {"more", "", "done", "broken", "no map"};
    const gh_slots_row* row = &reader->row;
    if (result != GH_SLOTS_ROW) slots_print(text, "%s\n", verdicts[result]);
    else if (!row->is_good) slots_print(text, "none\n");
    else
        put_row(text, row->first, row->last, gh_slots_row_endpoint(row), gh_str_make(row->name, row->name_size),
                row->replicas);
}

/* All rows of a piece; what comes then. */
static gh_slots_read read_piece(byte_buffer* text, gh_slots_reader* reader, const char* bytes, size_t size,
                                size_t* used)
{
    char* exact = malloc(size + (size == 0));
    gh_slots_read result = GH_SLOTS_ROW;
    if (size > 0) memcpy(exact, bytes, size);
    for (*used = 0; result == GH_SLOTS_ROW;)
    {
        size_t more;
        result = gh_slots_reader_next(reader, exact + *used, size - *used, &more);
        assert_true(more <= size - *used);
        *used += more;
        if (result == GH_SLOTS_ROW) put_read(text, reader, result);
    }
    if (result == GH_SLOTS_MORE) assert_int_equal(*used, size);
    free(exact);
    return result;
}

size_t slots_read(byte_buffer* text, const char* bytes, size_t size, random_stream* stream, size_t most)
{
    gh_slots_reader* reader = malloc(sizeof(*reader));
    gh_slots_read result = GH_SLOTS_MORE;
    size_t at = 0, used;
    memset(reader, 0xa5, sizeof(*reader));
    gh_slots_reader_begin(reader);
    while (result == GH_SLOTS_MORE && at < size)
    {
        gh_slots_reader* moved = malloc(sizeof(*moved));
        size_t piece = most == 0 ? size : (size_t)random_between(stream, 0, most);
        if (piece > size - at) piece = size - at;
        *moved = *reader;
        free(reader);
        reader = moved;
        result = read_piece(text, reader, bytes + at, piece, &used);
        at += used;
    }
    for (int again = 0; again < 2; again++) assert_int_equal(read_piece(text, reader, "*1\r\n", 0, &used), result);
    put_read(text, reader, result);
    free(reader);
    return at;
}

/* ---- by hiredis -------------------------------------------------------------------------------------------------- */

static bool is_array(const redisReply* reply)
{
    return reply->type == REDIS_REPLY_ARRAY;
}

/* A nil counts as an array that has nothing, and as a text that has nothing. */
static bool is_text(const redisReply* reply)
{
    return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_NIL;
}

static bool has_good_types(const redisReply* reply)
{
    if (reply->type == REDIS_REPLY_INTEGER || is_text(reply)) return true;
    if (!is_array(reply)) return false;
    for (size_t i = 0; i < reply->elements; i++)
        if (!has_good_types(reply->element[i])) return false;
    return true;
}

static bool is_slot(const redisReply* reply)
{
    return reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0 && reply->integer < GH_SLOTS;
}

static gh_str announced_name(const redisReply* node)
{
    gh_str name = gh_str_make(NULL, 0);
    if (node->elements < 4 || !is_array(node->element[3])) return name;
    for (size_t i = 0; i + 1 < node->element[3]->elements; i += 2)
    {
        const redisReply* key = node->element[3]->element[i];
        const redisReply* value = node->element[3]->element[i + 1];
        if (key->type != REDIS_REPLY_STRING || !is_text(value)) continue;
        if (gh_str_equal(gh_str_make(key->str, key->len), gh_str_literal("hostname")))
            name = gh_str_make(value->str, value->len > GH_ENDPOINT_HOST_MAX ? 0 : value->len);
    }
    return gh_endpoint_host_is_good(name) ? name : gh_str_make(NULL, 0);
}

static void put_tree_row(byte_buffer* text, const redisReply* row)
{
    const redisReply* node = row->elements > 2 ? row->element[2] : NULL;
    unsigned replicas = 0;
    if (node == NULL || !is_slot(row->element[0]) || !is_slot(row->element[1]) || !is_array(node) ||
        row->element[0]->integer > row->element[1]->integer || node->elements < 2 || !is_text(node->element[0]) ||
        node->element[1]->type != REDIS_REPLY_INTEGER)
    {
        slots_print(text, "none\n");
        return;
    }
    for (size_t i = 3; i < row->elements; i++) replicas += is_array(row->element[i]) && row->element[i]->elements > 0;
    put_row(text, (unsigned)row->element[0]->integer, (unsigned)row->element[1]->integer,
            gh_endpoint_make(gh_str_make(node->element[0]->str, node->element[0]->len), node->element[1]->integer),
            announced_name(node), replicas);
}

static void put_tree(byte_buffer* text, const redisReply* reply)
{
    for (size_t i = 0; i < reply->elements; i++) put_tree_row(text, reply->element[i]);
    slots_print(text, "done\n");
}

static bool is_answer(const redisReply* reply)
{
    if (!is_array(reply) || !has_good_types(reply) || reply->elements > GH_SLOTS) return false;
    for (size_t i = 0; i < reply->elements; i++)
        if (!is_array(reply->element[i])) return false;
    return true;
}

void slots_read_by_hiredis(byte_buffer* text, const char* bytes, size_t size)
{
    void* reply = NULL;
    redisReader* reader = redisReaderCreate();
    assert_int_equal(redisReaderFeed(reader, bytes, size), REDIS_OK);
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
    assert_non_null(reply);
    if (bytes[0] == '-') slots_print(text, "no map\n");
    else if (is_answer(reply)) put_tree(text, reply);
    else slots_print(text, "broken\n");
    freeReplyObject(reply);
    redisReaderFree(reader);
}
