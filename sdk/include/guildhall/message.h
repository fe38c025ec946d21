/* guildhall/message.h -- one message on its way out, and one that came in: the same for mailbox.h and
   chat.h. */

#ifndef GUILDHALL_MESSAGE_H
#define GUILDHALL_MESSAGE_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_MESSAGE_SIZE_MAX 65536 /* bytes in a body; any byte may be in it, and it may be empty */
#define GH_MESSAGES_MAX 64        /* in one request: what one frame has to say in one place      */
#define GH_MESSAGES_BYTES_MAX 69632 /* senders and bodies of one request, together               */

/* A body goes out where out_bytes of gh_client_config has room for the request: all its senders and bodies, 64 bytes a
   message, and 2 KiB, or 1 KiB where prefix and name are short; else begin says GH_TOO_LARGE. It comes in where the
   reader has room for it: a buffer of sizeof(gh_message) + sender + body, and reply_bytes of 4352 bytes more than the
   body. A reader without that room is told of the message all the same, see gh_message.status: it keeps nobody from
   what comes behind it. With the defaults bodies of up to 28,000 bytes go out and come in; any does with 72 KiB of
   out_bytes and of reply_bytes. */

/* To be sent. The array of them is yours and stays in place until the op ends, and so do the bytes. */
typedef struct gh_post
{
    /* yours */
    gh_str sender; /* a player's name, or empty: the server itself speaks; at most GH_NAME_SIZE_MAX  */
    gh_str body;   /* at most GH_MESSAGE_SIZE_MAX, and what out_bytes has room for                   */
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
    uint32_t body_size; /* bytes of the body as it is stored: body.size, unless the status says TOO_LARGE  */
    gh_status status;   /* GH_OK; GH_TOO_LARGE: its body is empty here, and its sender, too, if the whole
                           buffer has no room for that: it is larger than what this buffer or a reply of
                           this client can hold, however empty. Pass it over and go on, or read it with
                           more room: in a mailbox nothing but a commit takes it away, in a chat also
                           who is sent more than the chat keeps                                      */
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
