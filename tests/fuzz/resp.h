/* resp.h -- RESP as a server sees it: requests are read, and anything that is not quite one is a failure; replies are
   written, good ones and others. Knows nothing of the library's own encoder and reader. */

#ifndef GUILDHALL_TESTS_FUZZ_RESP_H
#define GUILDHALL_TESTS_FUZZ_RESP_H

#include "guildhall/base.h"

#define RESP_WORDS_MAX 512u

typedef struct resp_request
{
    gh_str words[RESP_WORDS_MAX]; /* views of the bytes that were read */
    size_t count;
} resp_request;

/* Takes the first request apart. Returns its size, 0 if it is not whole yet; fails if it is none. */
size_t resp_read(const char* bytes, size_t size, resp_request* request);

/* What a server writes. What does not fit is dropped, and the rest of it, too: then the text is over. */
typedef struct resp_text
{
    char* bytes;
    size_t size;
    size_t capacity;
    bool over;
} resp_text;

void resp_put(resp_text* to, const void* bytes, size_t size);
void resp_print(resp_text* to, const char* format, ...) __attribute__((format(printf, 2, 3)));
void resp_bulk(resp_text* to, gh_str text);
void resp_array(resp_text* to, size_t count);
void resp_integer(resp_text* to, int64_t number);

/* True if it is nothing but digits, as a server would take them for a number below 2^63; *number is set. */
bool resp_is_number(gh_str word, uint64_t* number);
bool resp_is(gh_str word, const char* text);

#endif
