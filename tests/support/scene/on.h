/* on.h -- semaphores, mailboxes and chats for a single begin, which are gone behind it: what is begun on them needs
   them no more. What their init refuses, the begin says. */

#ifndef GUILDHALL_TESTS_ON_H
#define GUILDHALL_TESTS_ON_H

#include "support/scene/game.h"

/* With that limit; without one, and with that timeout_us. */
#define ON_SEMAPHORE(client, name, limit)             ((gh_semaphore[]){semaphore_made((client), (name), (limit))})
#define ON_SEMAPHORE_WITHIN(client, name, timeout_us)                                                        \
    ((gh_semaphore[]){semaphore_within((client), (name), (timeout_us))})
gh_semaphore semaphore_made(gh_client* client, gh_str name, uint32_t limit);
gh_semaphore semaphore_within(gh_client* client, gh_str name, uint64_t timeout_us);

/* With the defaults; with a config; with that timeout_us. */
#define ON_MAILBOX(client, name)                     ON_MAILBOX_WITH(client, name, NULL)
#define ON_MAILBOX_WITH(client, name, config)        ((gh_mailbox[]){mailbox_made((client), (name), (config))})
#define ON_MAILBOX_WITHIN(client, name, timeout_us)  ((gh_mailbox[]){mailbox_within((client), (name), (timeout_us))})
#define ON_CHAT(client, name)                        ON_CHAT_WITH(client, name, NULL)
#define ON_CHAT_WITH(client, name, config)           ((gh_chat[]){chat_made((client), (name), (config))})
#define ON_CHAT_WITHIN(client, name, timeout_us)     ((gh_chat[]){chat_within((client), (name), (timeout_us))})
gh_mailbox mailbox_made(gh_client* client, gh_str name, const gh_mailbox_config* config);
gh_mailbox mailbox_within(gh_client* client, gh_str name, uint64_t timeout_us);
gh_chat chat_made(gh_client* client, gh_str name, const gh_chat_config* config);
gh_chat chat_within(gh_client* client, gh_str name, uint64_t timeout_us);

/* A config of gh_chat_list_begin with that timeout_us. */
#define LIST_WITHIN(timeout_us) ((gh_chat_list_config[]){chat_list_within(timeout_us)})
gh_chat_list_config chat_list_within(uint64_t timeout_us);

/* The begin of op on a bad object: it ends with that status, which is told as any other end, once. Of no object, or one
   of no client, no client can tell. */
#define ON_BAD(owner, operation, begin, expected)                                                            \
    do                                                                                                       \
    {                                                                                                        \
        (operation)->op.tag = 7;                                                                             \
        assert_status((begin), (expected));                                                                  \
        bad_must_be_told((owner), &(operation)->op, (expected));                                             \
    } while (0)
void bad_must_be_told(game* owner, const gh_op* op, gh_status expected);

#endif
