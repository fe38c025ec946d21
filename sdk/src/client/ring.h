/* ring.h -- chains whose links can be taken out without knowing the chain: rings with a link of nobody's as their
   ends. */

#ifndef GH_RING_H
#define GH_RING_H

#include "guildhall/client.h"

static inline void gh_ring_init(gh_ring* ends)
{
    ends->next = ends->previous = ends;
}

static inline bool gh_ring_is_empty(const gh_ring* ends)
{
    return ends->next == ends;
}

static inline bool gh_ring_has(const gh_ring* link)
{
    return link->next != NULL;
}

/* Behind all others. */
static inline void gh_ring_add(gh_ring* ends, gh_ring* link)
{
    link->previous = ends->previous;
    link->next = ends;
    ends->previous->next = link;
    ends->previous = link;
}

/* Nothing happens to a link that is in no ring. */
static inline void gh_ring_remove(gh_ring* link)
{
    if (link->next == NULL) return;
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link->next = link->previous = NULL;
}

/* All that are in one ring go to the end of another. */
static inline void gh_ring_move_all(gh_ring* from, gh_ring* to)
{
    if (gh_ring_is_empty(from)) return;
    from->next->previous = to->previous;
    to->previous->next = from->next;
    from->previous->next = to;
    to->previous = from->previous;
    gh_ring_init(from);
}

#endif
