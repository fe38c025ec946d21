/* guildhall/message.h -- one message on its way out, and one that came in: the same for mailbox.h and
   chat.h. */

#ifndef GUILDHALL_MESSAGE_H
#define GUILDHALL_MESSAGE_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_MESSAGE_SIZE_MAX 4096 /* bytes in a body; any byte may be in it, and it may be empty  */
#define GH_MESSAGES_MAX 64       /* in one request: what one frame has to say in one place       */
#define GH_MESSAGES_BYTES_MAX 49152 /* senders and bodies of one request, together               */

/* To be sent. The array of them is yours and stays in place until the op ends, and so do the bytes. */
typedef struct gh_post
{
    /* yours */
    gh_str sender; /* a player's name, or empty: the server itself speaks; at most GH_NAME_SIZE_MAX  */
    gh_str body;   /* at most GH_MESSAGE_SIZE_MAX                                                    */
    void* user;

    /* read-only, after the op has ended GH_OK; of a chat GH_NOT_MEMBER too */
    uint64_t id;      /* 0: was not taken                                                            */
    gh_status status; /* GH_OK, or why this one was not taken while others were                      */
} gh_post;

/* As it is stored. Its bytes are in the buffer that you gave, and live as long as the function says that
   filled it. */
typedef struct gh_message
{
    uint64_t epoch;   /* in which it was stored: see gh_message_is_after                             */
    uint64_t id;      /* 1, 2, 3, ... without a gap, also from epoch to epoch                        */
    uint64_t time_us; /* when the store took it, on the store's clock since 1970, in steps of 1 ms   */
    gh_str sender;
    gh_str body;
} gh_message;

/* True if the message comes after what you did last, whose epoch and id you kept; what does not was handled before, and
   may be skipped. The epoch counts first, then the id: a store that has forgotten its newest messages gives their ids
   again, in a later epoch. Keep the two of the message itself: the epoch of a fetch may be a later one. */
static inline bool gh_message_is_after(const gh_message* one, uint64_t epoch, uint64_t id)
{
    return one->epoch != epoch ? one->epoch > epoch : one->id > id;
}

#ifdef __cplusplus
}
#endif

#endif
