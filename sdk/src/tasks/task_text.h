/* task_text.h -- a task as it is stored, and the texts that name it and its hand-out.

   Stored:   "<class> <attempts> <size of the handler>:<handler><payload>", and with a group "<class>
   <attempts> <size of the handler> <size of the group>:<group><handler><payload>"; the class is one digit,
   so a script knows it by the first byte. Made id:  "<client, 16 hex digits>-<sequence, hex>", and ".<place in its
   request, hex>" behind all but the first. Receipt:  "<attempt> <fence> <client>:<sequence>" of the taker:
   what only the present hand-out knows.                  */

#ifndef GH_TASK_TEXT_H
#define GH_TASK_TEXT_H

#include "wire/request.h"

typedef struct gh_task_text
{
    uint32_t task_class;
    uint32_t attempts_max;
    gh_str group;
    gh_str handler;
    gh_str payload;
} gh_task_text;

#define GH_TASK_TEXT_HEADER_MAX 24u /* bytes besides group, handler and payload */
#define GH_TASK_MADE_ID_MAX 64u

/* At most that many bytes, and not NULL with a size. */
static inline bool gh_task_bytes_fit(gh_str bytes, size_t most)
{
    return bytes.size <= most && (bytes.bytes != NULL || bytes.size == 0);
}

/* Views into the stored text; false: not of this form. */
bool gh_task_text_parse(gh_str stored, gh_task_text* task);

void gh_request_task(gh_request* request, const gh_task_text* task);
void gh_request_task_receipt(gh_request* request, uint32_t attempt, uint64_t fence, uint64_t client,
                             uint64_t sequence);

/* Writes at most GH_TASK_MADE_ID_MAX bytes and returns how many. */
size_t gh_task_make_id(uint64_t client, uint64_t sequence, uint32_t place, char* out);

#endif
