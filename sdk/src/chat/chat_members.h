/* chat_members.h -- the members that a fetch is for, as chat_fetch.c sees them.

   They are a chain, in the order of the caller's array. A request is about a page of them: many members take several
   requests. A member's own fields remember what is known of it, from fetch to fetch. */

#ifndef GH_CHAT_MEMBERS_H
#define GH_CHAT_MEMBERS_H

#include "chat_read.h"

/* The id after which there may be something new for a member; GH_CHAT_ID_MAX: there is no member. */
uint64_t gh_chat_members_after(const gh_chat_fetch* fetch);

/* Chooses whom the next request is about. Frozen now, because the request may have to be written again. */
void gh_chat_members_plan(gh_chat_fetch* fetch);

/* The pairs of the page, behind the question: member, and what it has handled. */
void gh_chat_members_encode(const gh_chat_fetch* fetch, gh_request* request);

/* The names of all, for a request that is a sum. */
void gh_chat_members_sum(const gh_chat_fetch* fetch, gh_request* sum);

/* Takes what the store says of the members of the page; value is the first, entries the value behind them. False: no
   chat can be like that. */
bool gh_chat_members_take(gh_chat_fetch* fetch, const gh_reply* value, const gh_reply** entries);

/* Figures of each member, and the gap if there is one. False: there is no member. */
bool gh_chat_members_update(gh_chat_fetch* fetch);

/* The ids go on in a new epoch, behind last_id: what was known of larger ones is lost. */
void gh_chat_members_rebase(gh_chat_fetch* fetch, uint64_t last_id);

/* The chat was made anew: nothing that is known of them holds. */
void gh_chat_members_forget(gh_chat_fetch* fetch);

#endif
