/* reply.c -- what a caller takes out of a reply. */

#include "guildhall/reply.h"

#define REPLY_DIGITS_MAX 19u /* of an int64_t; they fit into a uint64_t */

const gh_reply* gh_reply_at(const gh_reply* reply, uint32_t i)
{
    const gh_reply* value;
    if (reply == NULL || reply->type != GH_REPLY_ARRAY) return NULL;
    for (value = reply->first; value != NULL && i > 0; i--) value = value->next;
    return value;
}

bool gh_reply_str(const gh_reply* reply, gh_str* out)
{
    if (reply == NULL || (reply->type != GH_REPLY_STRING && reply->type != GH_REPLY_STATUS)) return false;
    *out = reply->text;
    return true;
}

static bool int_of_text(gh_str text, int64_t* out)
{
    const bool negative = text.size > 0 && text.bytes[0] == '-';
    const uint64_t most = (uint64_t)INT64_MAX + (negative ? 1u : 0u);
    uint64_t number = 0;
    size_t i = negative ? 1 : 0;
    if (i == text.size || text.size - i > REPLY_DIGITS_MAX) return false;
    for (; i < text.size; i++)
    {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') return false;
        number = number * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    if (number > most) return false;
    *out = negative && number > 0 ? -(int64_t)(number - 1) - 1 : (int64_t)number;
    return true;
}

bool gh_reply_int(const gh_reply* reply, int64_t* out)
{
    gh_str text;
    if (gh_reply_str(reply, &text)) return int_of_text(text, out);
    if (reply == NULL || reply->type != GH_REPLY_INTEGER) return false;
    *out = reply->integer;
    return true;
}
