/* chat_members.c -- the members that a fetch is for: whom it asks about next, and what it knows of each. */

#include "chat_members.h"

#include "base/least.h"
#include "wire/name.h"

#define CHAT_PAGE_MAX  64u  /* members in one request; 24 for the smallest clients */
#define CHAT_PAGE_ROOM 100u /* bytes of a member in a request                      */

uint64_t gh_chat_members_after(const gh_chat_fetch* fetch)
{
    uint64_t after = GH_CHAT_ID_MAX;
    const gh_chat_member* member;
    for (member = fetch->members; member != NULL; member = member->next)
        if (member->known && member->status == GH_OK) after = gh_least(after, member->given);
    return after;
}

void gh_chat_members_plan(gh_chat_fetch* fetch)
{
    uint32_t most = gh_client_reply_nodes(fetch->op.client) / 2 - GH_CHAT_READ_SEEN;
    bool others = false; /* there are members of whom it is known where they are, or whom the request is not about */
    bool unknown = false;
    gh_chat_member* member;
    size_t room = gh_client_out_room(fetch->op.client) / 2 / CHAT_PAGE_ROOM;
    if (most > CHAT_PAGE_MAX) most = CHAT_PAGE_MAX;
    if (most > room) most = (uint32_t)room;
    fetch->page = NULL;
    fetch->page_count = 0;
    fetch->more_pages = false;
    for (member = fetch->members; member != NULL; member = member->next)
    {
        member->asked = !member->fresh && fetch->page_count < most;
        if (member->asked)
        {
            if (fetch->page == NULL) fetch->page = member;
            fetch->page_count++;
            member->sending = member->handled;
            member->sending_epoch = member->handled_epoch == fetch->epoch ? 0 : member->handled_epoch;
        }
        else if (!member->fresh)
        {
            fetch->more_pages = true;
        }
        if (!member->asked || member->known) others = true;
        if (!member->known) unknown = true;
    }
    fetch->from_least = unknown && !others;
    fetch->wants_messages = !fetch->more_pages && (!unknown || !others);
}

/* The members of a page in the order of the request. */
static gh_chat_member* next_asked(gh_chat_member* member)
{
    while (member != NULL && !member->asked) member = member->next;
    return member;
}

/* "<id>", or "<epoch>:<id>" if it is not of the fetch's epoch. */
static void encode_handled(gh_request* request, const gh_chat_member* member)
{
    char text[GH_DECIMAL_SIZE_MAX + 1 + GH_DECIMAL_SIZE_MAX];
    char* end = text;
    if (member->sending_epoch != 0)
    {
        end = gh_decimal_encode(member->sending_epoch, end);
        *end++ = ':';
    }
    end = gh_decimal_encode(member->sending, end);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

void gh_chat_members_encode(const gh_chat_fetch* fetch, gh_request* request)
{
    const gh_chat_member* member;
    for (member = next_asked(fetch->page); member != NULL; member = next_asked(member->next))
    {
        gh_request_str(request, member->name);
        encode_handled(request, member);
    }
}

void gh_chat_members_sum(const gh_chat_fetch* fetch, gh_request* sum)
{
    const gh_chat_member* member;
    for (member = fetch->members; member != NULL; member = member->next) gh_request_str(sum, member->name);
}

bool gh_chat_members_take(gh_chat_fetch* fetch, const gh_reply* value, const gh_reply** entries)
{
    gh_chat_member* member = next_asked(fetch->page);
    const gh_reply* seen = value;
    uint32_t i;
    for (i = 0; i < fetch->page_count; i++, seen = seen->next)
        if (!gh_chat_is_seen(seen, fetch->last_id)) return false;
    for (; member != NULL && value != NULL; member = next_asked(member->next), value = value->next)
    {
        bool is_member = value->integer >= 0;
        member->status = is_member ? GH_OK : GH_NOT_MEMBER;
        member->seen = is_member ? (uint64_t)value->integer : 0;
        if (!is_member || !member->known || member->given < member->seen)
        {
            member->given = member->seen;
            member->missed = 0; /* if that is told yet: it was before what is handled */
        }
        member->known = true;
        member->fresh = true;
    }
    *entries = value;
    return true;
}

bool gh_chat_members_update(gh_chat_fetch* fetch)
{
    gh_chat_member* member;
    bool any = false;
    for (member = fetch->members; member != NULL; member = member->next)
    {
        uint64_t kept_from = fetch->first_id - 1;
        if (!member->known || member->status != GH_OK) continue;
        any = true;
        if (fetch->count == 0 && member->given < kept_from)
        {
            member->missed += kept_from - member->given;
            member->given = kept_from;
        }
        member->unread = fetch->last_id - (member->seen > kept_from ? member->seen : kept_from);
    }
    return any;
}

void gh_chat_members_rebase(gh_chat_fetch* fetch, uint64_t last_id)
{
    gh_chat_member* member;
    for (member = fetch->members; member != NULL; member = member->next)
    {
        member->handled = gh_least(member->handled, last_id);
        member->given = gh_least(member->given, last_id);
    }
}

void gh_chat_members_forget(gh_chat_fetch* fetch)
{
    gh_chat_member* member;
    for (member = fetch->members; member != NULL; member = member->next)
    {
        member->known = false;
        member->handled = 0;
        member->handled_epoch = 0;
        member->given = 0;
        member->seen = 0;
        member->missed = 0;
    }
}
