/* entry.h -- stored messages, and the caller's buffer that they are copied into.

   Stored:  "<id> <ms since 1970> <size of the sender> <sender><body>", numbers in decimal: each entry says
            by itself which one it is, so a range of a list is enough to read it.

   Told:    as it is stored; or, of one for which the reader has no room, "-<size of the body> <id> <ms> <size of the
            sender> <sender>", see page_entry.lua.

   Buffer:  [ message 0 | message 1 | ...  ->   free   <-  ... | bytes of 1 | bytes of 0 ] */

#ifndef GH_ENTRY_H
#define GH_ENTRY_H

#include "guildhall/message.h"
#include "wire/request.h"

#define GH_ENTRY_HEADER_MAX 64u /* bytes of an entry besides sender and body: three numbers and blanks */
#define GH_ENTRY_SIZE_MAX (GH_MESSAGE_SIZE_MAX + GH_NAME_SIZE_MAX + GH_ENTRY_HEADER_MAX)

/* Bytes of messages in one answer of a script at most, however much a client has room for: others want the server, too.
   The longest fits. */
#define GH_ENTRY_PAGE_MAX 262144u

/* Takes a number of at most 16 digits, and the blank behind it, from the front; false: there is none. */
bool gh_entry_number(gh_str* rest, uint64_t* number);

/* Views into the entry, all but the epoch; false: of neither form. */
bool gh_entry_parse(gh_str entry, gh_message* message);

typedef struct gh_page
{
    gh_message* messages; /* at the start of the memory, which is aligned to 8 */
    uint32_t size;
    uint32_t tail;        /* bytes at the end that are used                    */
    uint32_t count;
} gh_page;

gh_page gh_page_make(const gh_message* messages, uint32_t size, uint32_t tail, uint32_t count);

/* What a fetch is given for a page of so many messages: GH_OK; GH_INVALID_BUFFER: it is not aligned, or not there. */
gh_status gh_page_check(const void* memory, size_t size, uint32_t messages_max);

/* Bytes that a message takes in a page if it comes whole; and in this one: without its body, if it came so or is larger
   than the whole page, and without its sender if that does not fit either. */
size_t gh_page_whole(const gh_message* message);
size_t gh_page_cost(const gh_page* page, const gh_message* message);

/* Room that is left, in bytes of gh_page_cost. */
size_t gh_page_room(const gh_page* page);

/* Copies as much of it as gh_page_cost says. False: no room, nothing changed. */
bool gh_page_add(gh_page* page, const gh_message* message, uint64_t epoch);

/* What begin functions check of outgoing messages: 1..GH_MESSAGES_MAX, each and all within their bounds, and in a
   request they take no more than room. GH_OK, GH_INVALID_MESSAGES, GH_TOO_LARGE. */
gh_status gh_posts_check(const gh_post* posts, size_t count, size_t room);

/* The same; after GH_OK nothing is known of any of them. */
gh_status gh_posts_begin(gh_post* posts, size_t count, size_t room);

/* Two strings each: sender, body. */
void gh_posts_encode(gh_request* request, const gh_post* posts, size_t count);

#endif
