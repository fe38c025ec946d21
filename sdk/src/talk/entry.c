/* entry.c -- messages as the store keeps them, and pages of them in the caller's memory. */

#include "talk/entry.h"

#define ENTRY_NUMBER_MAX (1ull << 53)

bool gh_entry_number(gh_str* rest, uint64_t* number)
{
    const char* at = rest->bytes;
    const char* end;
    uint64_t value = 0;
    unsigned digit = 10;
    if (rest->size == 0) return false; /* nor need there be bytes */
    end = at + (rest->size < 17 ? rest->size : 17);
    for (; at != end && (digit = (unsigned)(unsigned char)*at - '0') <= 9; at++) value = value * 10 + digit;
    *number = value;
    if (at == rest->bytes || at == end || *at != ' ') return false;
    at++;
    rest->size -= (size_t)(at - rest->bytes);
    rest->bytes = at;
    return true;
}

/* Of one that was passed over: takes the size of its body from the front. */
static bool entry_take_size(gh_str* entry, uint64_t* body_size)
{
    entry->bytes++;
    entry->size--;
    return gh_entry_number(entry, body_size) && *body_size <= GH_MESSAGE_SIZE_MAX;
}

bool gh_entry_parse(gh_str entry, gh_message* message)
{
    uint64_t time_ms;
    uint64_t sender_size;
    uint64_t passed_size = 0;
    bool is_passed = entry.size > 0 && entry.bytes[0] == '-';
    if (is_passed && !entry_take_size(&entry, &passed_size)) return false;
    if (!gh_entry_number(&entry, &message->id) || !gh_entry_number(&entry, &time_ms) ||
        !gh_entry_number(&entry, &sender_size) || sender_size > entry.size)
        return false;
    if (message->id - 1 >= ENTRY_NUMBER_MAX - 1 || time_ms >= ENTRY_NUMBER_MAX / 1000) return false; /* 0 wraps */
    message->time_us = time_ms * 1000;
    message->sender = gh_str_make(entry.bytes, (size_t)sender_size);
    message->body = gh_str_make(entry.bytes + sender_size, entry.size - (size_t)sender_size);
    message->body_size = (uint32_t)message->body.size;
    message->status = GH_OK;
    if (sender_size > GH_NAME_SIZE_MAX || message->body.size > GH_MESSAGE_SIZE_MAX) return false;
    if (!is_passed) return true;
    message->body_size = (uint32_t)passed_size;
    message->status = GH_TOO_LARGE;
    return message->body.size == 0;
}

gh_page gh_page_make(const gh_message* messages, uint32_t size, uint32_t tail, uint32_t count)
{
    gh_page page;
    page.messages = (gh_message*)(uintptr_t)messages;
    page.size = size;
    page.tail = tail;
    page.count = count;
    return page;
}

gh_status gh_page_check(const void* memory, size_t size, uint32_t messages_max)
{
    if (memory == NULL && (size > 0 || messages_max > 0)) return GH_INVALID_BUFFER;
    return ((uintptr_t)memory & 7) == 0 ? GH_OK : GH_INVALID_BUFFER;
}

size_t gh_page_whole(const gh_message* message)
{
    return sizeof *message + message->sender.size + message->body_size;
}

static bool page_can_hold(const gh_page* page, const gh_message* message)
{
    return message->status == GH_OK && gh_page_whole(message) <= page->size;
}

/* What is told of one that has no room. */
static gh_message page_head(const gh_page* page, const gh_message* message)
{
    gh_message head = *message;
    head.status = GH_TOO_LARGE;
    head.body.size = 0;
    if (sizeof head + head.sender.size > page->size) head.sender.size = 0;
    return head;
}

size_t gh_page_cost(const gh_page* page, const gh_message* message)
{
    return page_can_hold(page, message) ? gh_page_whole(message)
                                        : sizeof *message + page_head(page, message).sender.size;
}

size_t gh_page_room(const gh_page* page)
{
    size_t used = page->count * sizeof(gh_message) + page->tail;
    return page->size > used ? page->size - used : 0;
}

static gh_str page_keep(gh_page* page, gh_str bytes)
{
    char* end = (char*)page->messages + page->size - page->tail;
    page->tail += (uint32_t)bytes.size;
    if (bytes.size > 0) memcpy(end - bytes.size, bytes.bytes, bytes.size);
    return gh_str_make(end - bytes.size, bytes.size);
}

bool gh_page_add(gh_page* page, const gh_message* message, uint64_t epoch)
{
    gh_message* kept = &page->messages[page->count];
    gh_message head;
    if (gh_page_room(page) < gh_page_whole(message))
    {
        if (page_can_hold(page, message)) return false;
        head = page_head(page, message);
        if (gh_page_room(page) < sizeof head + head.sender.size) return false;
        message = &head;
    }
    page->count++;
    kept->epoch = epoch;
    kept->id = message->id;
    kept->time_us = message->time_us;
    kept->body = page_keep(page, message->body);
    kept->sender = page_keep(page, message->sender);
    kept->body_size = message->body_size;
    kept->status = message->status;
    return true;
}

static bool is_text(gh_str text, size_t most)
{
    return text.size <= most && (text.bytes != NULL || text.size == 0);
}

gh_status gh_posts_check(const gh_post* posts, size_t count, size_t room)
{
    size_t size = 0;
    size_t encoded = 0;
    size_t i;
    if (posts == NULL || count == 0 || count > GH_MESSAGES_MAX) return GH_INVALID_MESSAGES;
    for (i = 0; i < count; i++)
    {
        const gh_str sender = posts[i].sender;
        const gh_str body = posts[i].body;
        if (!is_text(sender, GH_NAME_SIZE_MAX) || !is_text(body, GH_MESSAGE_SIZE_MAX)) return GH_INVALID_MESSAGES;
        size += sender.size + body.size;
        encoded += gh_request_str_size(sender.size) + gh_request_str_size(body.size) + 4;
    }
    if (size > GH_MESSAGES_BYTES_MAX) return GH_INVALID_MESSAGES;
    return encoded > room ? GH_TOO_LARGE : GH_OK;
}

gh_status gh_posts_begin(gh_post* posts, size_t count, size_t room)
{
    size_t i;
    gh_status status = gh_posts_check(posts, count, room);
    if (status != GH_OK) return status;
    for (i = 0; i < count; i++)
    {
        posts[i].id = 0;
        posts[i].status = GH_PENDING;
    }
    return GH_OK;
}

void gh_posts_encode(gh_request* request, const gh_post* posts, size_t count)
{
    size_t i;
    if (gh_request_is_route(request)) return;
    for (i = 0; i < count; i++)
    {
        gh_request_str(request, posts[i].sender);
        gh_request_str(request, posts[i].body);
    }
}
