/* cluster_place.c -- from the host, the port and the name that servers say to an address. */

#include "cluster/cluster_place.h"
#include "wire/name.h"

/* A host that is a name is what its certificate must be for, and the resolver's number is only the way to it. So is the
   name that is announced beside a number; the number itself is where there is none. */
static void place_take_name(gh_cluster_place* place, const gh_slots_node* node)
{
    if (node->name_size == 0 || place->target.needs_resolver) return;
    memcpy(place->name, node->name, node->name_size);
    place->target.address.name = gh_str_make(place->name, node->name_size);
}

void gh_cluster_place_set(gh_cluster_place* place, const gh_slots_node* node)
{
    const bool braced = memchr(node->host, ':', node->host_size) != NULL;
    char* end = place->text;
    if (braced) *end++ = '[';
    memcpy(end, node->host, node->host_size);
    end += node->host_size;
    if (braced) *end++ = ']';
    *end++ = ':';
    end = gh_decimal_encode(node->port, end);
    gh_target_parse(gh_str_make(place->text, (size_t)(end - place->text)), &place->target);
    place_take_name(place, node);
}
