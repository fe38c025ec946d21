/* alike.c -- replies to ZSCAN, put into an order. */

#include "differential/alike.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

/* NULL: it is not one whole reply. */
static redisReply* parse(gh_str bytes)
{
    void* reply = NULL;
    redisReader* reader = redisReaderCreate();
    if (reader == NULL) abort();
    if (redisReaderFeed(reader, bytes.bytes, bytes.size) != REDIS_OK || redisReaderGetReply(reader, &reply) != REDIS_OK)
        reply = NULL;
    redisReaderFree(reader);
    return reply;
}

static int by_text(const redisReply* a, const redisReply* b)
{
    const size_t both = a->len < b->len ? a->len : b->len;
    const int order = memcmp(a->str, b->str, both);
    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static int by_member(const void* left, const void* right)
{
    return by_text(*(redisReply* const*)left, *(redisReply* const*)right);
}

static bool is_scan(const redisReply* reply)
{
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
           reply->element[1]->type == REDIS_REPLY_ARRAY && reply->element[1]->elements % 2 == 0;
}

static bool is_whole(const redisReply* scan)
{
    return strcmp(scan->element[0]->str, "0") == 0;
}

static bool same_pairs(redisReply* a, redisReply* b)
{
    if (a->elements != b->elements) return false;
    qsort(a->element, a->elements / 2, 2 * sizeof *a->element, by_member);
    qsort(b->element, b->elements / 2, 2 * sizeof *b->element, by_member);
    for (size_t i = 0; i < a->elements; i++)
        if (by_text(a->element[i], b->element[i]) != 0) return false;
    return true;
}

static bool same_scan(const redisReply* a, const redisReply* b)
{
    if (!is_scan(a) || !is_scan(b)) return false;
    if (!is_whole(a) || !is_whole(b)) return true;
    return same_pairs(a->element[1], b->element[1]);
}

static bool asks_scan(const redisReply* request)
{
    return request != NULL && request->type == REDIS_REPLY_ARRAY && request->elements > 0 &&
           strcmp(request->element[0]->str, "ZSCAN") == 0;
}

bool alike_of_scan(gh_str request, gh_str reply, gh_str answer)
{
    redisReply* asked = parse(request);
    redisReply* a = parse(reply);
    redisReply* b = parse(answer);
    const bool alike = asks_scan(asked) && same_scan(a, b);
    if (asked != NULL) freeReplyObject(asked);
    if (a != NULL) freeReplyObject(a);
    if (b != NULL) freeReplyObject(b);
    return alike;
}
