/* redirect.c -- "MOVED <slot> <host>:<port>" and "ASK <slot> <host>:<port>". */

#include "wire/redirect.h"

#include "wire/slot.h"

#define REDIRECT_DIGITS_MAX 5u /* of a slot and of a port */

/* Digits and nothing else, and no zero in front of another. -1: it is none. */
static int64_t redirect_number(gh_str text)
{
    int64_t number = 0;
    size_t i;
    if (text.size == 0 || text.size > REDIRECT_DIGITS_MAX || (text.size > 1 && text.bytes[0] == '0')) return -1;
    for (i = 0; i < text.size; i++)
    {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') return -1;
        number = number * 10 + (text.bytes[i] - '0');
    }
    return number;
}

/* Cuts off what stands before the first of these bytes, and it. All of the text if there is none. */
static gh_str redirect_word(gh_str* text, char end)
{
    const char* at = text->size == 0 ? NULL : memchr(text->bytes, end, text->size);
    gh_str word = *text;
    if (at == NULL)
    {
        *text = gh_str_make(NULL, 0);
        return word;
    }
    word.size = (size_t)(at - text->bytes);
    *text = gh_str_make(at + 1, text->size - word.size - 1);
    return word;
}

static gh_endpoint redirect_endpoint(gh_str text)
{
    size_t colon = text.size;
    gh_str host;
    while (colon > 0 && text.bytes[colon - 1] != ':') colon--;
    if (colon == 0) return gh_endpoint_make(text, -1); /* there is no port */
    host = gh_str_make(text.bytes, colon - 1);
    if (host.size > 2 && host.bytes[0] == '[' && host.bytes[host.size - 1] == ']')
        host = gh_str_make(host.bytes + 1, host.size - 2);
    return gh_endpoint_make(host, redirect_number(gh_str_make(text.bytes + colon, text.size - colon)));
}

gh_redirect gh_redirect_parse(gh_str error)
{
    gh_redirect made = GH_ZERO;
    gh_str word = redirect_word(&error, ' ');
    int64_t slot;
    if (gh_str_equal(word, gh_str_literal("MOVED"))) made.kind = GH_REDIRECT_MOVED;
    else if (gh_str_equal(word, gh_str_literal("ASK"))) made.kind = GH_REDIRECT_ASK;
    else return made;
    slot = redirect_number(redirect_word(&error, ' '));
    made.endpoint = redirect_endpoint(error);
    if (slot >= 0 && slot < (int64_t)GH_SLOTS && made.endpoint.kind != GH_ENDPOINT_BAD) made.slot = (uint16_t)slot;
    else made.kind = GH_REDIRECT_BROKEN;
    return made;
}
