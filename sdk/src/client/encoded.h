/* encoded.h -- for assertions: a request has as many strings as it announces, and runs its script with as many keys and
   arguments as the head of that says. A build without assertions has nothing of this. */

#ifndef GH_ENCODED_H
#define GH_ENCODED_H

#include "client/state.h"

/* "<sign><number>\r\n"; moves *at behind it. */
static inline uint64_t gh_encoded_number(const char** at)
{
    uint64_t number = 0;
    const char* digit;
    for (digit = *at + 1; *digit != '\r'; digit++) number = number * 10 + (uint64_t)(*digit - '0');
    *at = digit + 2;
    return number;
}

static inline gh_str gh_encoded_string(const char** at)
{
    const size_t size = (size_t)gh_encoded_number(at);
    const gh_str string = gh_str_make(*at, size);
    *at += size + 2;
    return string;
}

static inline bool gh_encoded_items_fit(gh_script_items items, uint64_t count)
{
    if (count < items.least) return false;
    count -= items.least;
    return items.each == 0 ? count <= items.more : count % items.each == 0;
}

/* "EVALSHA <digest> <keys> ..." of so many strings, from the digest on. */
static inline bool gh_encoded_script_fits(const gh_script* script, const gh_request* request, const char* at,
                                          uint64_t strings)
{
    const gh_script_text* text = gh_script_contract(script);
    uint64_t keys = 0;
    gh_str count;
    if (text == NULL) return true;
    gh_encoded_string(&at);
    count = gh_encoded_string(&at);
    for (; count.size > 0; count.bytes++, count.size--) keys = keys * 10 + (uint64_t)(*count.bytes - '0');
    return gh_encoded_items_fit(text->keys, keys - (request->phantom != 0 ? 1 : 0)) &&
           gh_encoded_items_fit(text->arguments, strings - 3 - keys);
}

/* script: that it runs, or NULL. first: where the request begins. */
static inline bool gh_encoded_as_announced(const gh_script* script, const gh_request* request, const char* first)
{
    const char* at = first;
    const uint64_t announced = request->full ? 0 : gh_encoded_number(&at);
    const char* behind;
    uint64_t count = 0;
    if (request->full) return true; /* it is taken back */
    gh_encoded_string(&at);
    behind = at;
    for (count = 1; at < request->at; count++) gh_encoded_string(&at);
    return at == request->at && count == announced &&
           (script == NULL || gh_encoded_script_fits(script, request, behind, count));
}

#endif
