/* refusal.h -- checks a config by its rows (base/bounds.h), and keeps in words what is refused, for
   gh_client_last_invalid: "lease_us = 10, not within 50000..3600000000". */

#ifndef GH_REFUSAL_H
#define GH_REFUSAL_H

#include "base/bounds.h"
#include "guildhall/client.h"

/* gh_bounds_check, told to the client in words. No client (NULL): to nobody. */
gh_status gh_refusal_check(const gh_bounds* bounds, const void* config, gh_client* client);

/* For whoever refuses a call: keeps the sentence of its status, unless a check has just kept a better one. */
void gh_refusal_note(gh_client* client, gh_status status);

/* "lease_us = 10, not within 50000..3600000000"; returns the size. */
size_t gh_refusal_words(const gh_bound* row, uint64_t value, char* text, size_t text_size);

#endif
