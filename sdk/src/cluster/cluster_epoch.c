/* cluster_epoch.c -- where the epoch of a node lies, and the one rule for a node on which none does.

   A node that has slots and no epoch is left, and connected anew behind a map. It may have replaced a master, and the
   newest of that one's data may be lost: only an epoch that lies on the node can tell that, and only a map says which
   one does. So it goes where a node is given slots before a map has come to its end:

       MOVED gives it its first slot                         gh_cluster_leave_if_new
       a row of a map that is being read gives it slots      gh_cluster_leave_gains_of_rows
       MOVED has given the slot of its only epoch to another
       node since it was begun to be connected               gh_cluster_epoch, which its hand-shake asks

   And so is a node left that has sent an op for a slot of its own to another one, and then is given slots: it may have
   become a replica, and a master again with the other one's data, on a link that stayed open. It tells nobody of that,
   but its epoch does. Where slots only move, such a node is connected anew too, once in two seconds at most.

   Until the map has come, gh_cluster_awaits_map holds back who is to be connected anew. What a whole map changes is
   seen by gh_cluster_epoch_has_moved. */

#include "cluster/cluster_epoch.h"

#include "wire/name.h"
#include "wire/redirect.h"

#define NO_TAG UINT32_MAX

/* ---- where it lies ----------------------------------------------------------------------------------------------- */

static uint16_t slot_of_tag(uint32_t tag)
{
    char digits[GH_DECIMAL_SIZE_MAX];
    const char* end = gh_decimal_encode(tag, digits);
    return gh_slot_of_key(gh_str_make(digits, (size_t)(end - digits)));
}

/* The last group whose well-known key lies on the node: slots are moved from the first on, so it stays the longest. One
   that was on its way when it was asked for, only if there is no other: it may have stayed. */
static gh_epoch* epoch_of(gh_node* node, uint32_t* tag)
{
    gh_cluster* cluster = gh_cluster_of(node->client);
    const uint32_t place = gh_cluster_place_number(node);
    const uint32_t passed_over = cluster->places[place].passed_over;
    gh_epoch* last = NULL;
    uint32_t group;
    *tag = NO_TAG;
    for (group = GH_SLOT_GROUPS; group-- > 0;)
    {
        const uint32_t its_tag = gh_slot_group_tag(group);
        if (gh_slots_map_owner(&cluster->map, slot_of_tag(its_tag)) != place) continue;
        *tag = its_tag;
        last = &cluster->epochs[group];
        if (its_tag + 1 != passed_over) return last;
    }
    return last;
}

/* The key is on its way, or has gone. Nothing may be asked of a node of whose data nothing is known, so its next
   hand-shake asks for that of another group. False: no other lies there. */
static bool pass_over_epoch(gh_node* node)
{
    uint32_t tag;
    gh_cluster_place_of(node)->passed_over = node->epoch_tag + 1;
    return epoch_of(node, &tag) != NULL && tag != node->epoch_tag;
}

/* It has gone, and is the first of which that is heard since the last map: more of them, and the map is wrong. */
static bool epoch_has_gone(gh_node* node, const gh_redirect* to)
{
    gh_cluster* cluster = gh_cluster_of(node->client);
    gh_cluster_place* place = gh_cluster_place_of(node);
    const bool is_first = place->passed_map != cluster->map.number;
    uint16_t owner;
    cluster->wanted = true;
    place->passed_map = cluster->map.number;
    owner = gh_slots_map_moved(&cluster->map, to->slot, to->endpoint, gh_cluster_host_of(node));
    return owner != gh_cluster_place_number(node) && is_first;
}

/* True: the map is wrong, or the only key is on its way. It is asked for again when the map has another one for the
   node. */
bool gh_cluster_strays(gh_node* node, gh_str error)
{
    const gh_redirect to = gh_redirect_parse(error);
    if (to.kind == GH_REDIRECT_ASK && pass_over_epoch(node)) return false;
    if (to.kind == GH_REDIRECT_MOVED && epoch_has_gone(node, &to) && pass_over_epoch(node))
    {
        gh_cluster_place_of(node)->left = true; /* nobody has taken its place */
        return false;
    }
    return to.kind == GH_REDIRECT_MOVED || to.kind == GH_REDIRECT_ASK;
}

bool gh_cluster_epoch_has_moved(gh_node* node)
{
    const gh_cluster* cluster = gh_cluster_of(node->client);
    uint32_t tag;
    if (node->epoch == NULL) return epoch_of(node, &tag) != NULL && tag != node->epoch_tag;
    return gh_slots_map_owner(&cluster->map, slot_of_tag(node->epoch_tag)) != gh_cluster_place_number(node);
}

/* ---- who has none ------------------------------------------------------------------------------------------------ */

/* Who was only heard of by MOVED may have replaced a master, and the newest of its data may be lost: only its epoch can
   tell that, and only a newer map says where this lies. */
bool gh_cluster_awaits_map(gh_node* node)
{
    const gh_cluster* cluster = gh_cluster_of(node->client);
    uint32_t tag;
    return (cluster->wanted || gh_link_is_open(&cluster->link)) && epoch_of(node, &tag) == NULL;
}

void gh_cluster_leave(gh_node* node)
{
    gh_cluster_place_of(node)->left = gh_link_is_open(&node->link);
    gh_pipeline_leave(node);
}

/* Of its hand-shake. It had one when it was begun to be connected, and MOVED may have said other things since: then it
   is left as soon as it has answered. */
gh_epoch* gh_cluster_epoch(gh_node* node, uint32_t* tag)
{
    gh_epoch* epoch = epoch_of(node, tag);
    gh_cluster_place_of(node)->strayed = false;
    if (epoch == NULL && gh_cluster_awaits_map(node)) gh_cluster_place_of(node)->left = node->leaving = true;
    return epoch;
}

/* It has been given a slot. Who was connected when it had none was asked for no epoch, or will be asked for none, and
   may have replaced a master since: it is connected anew, behind a map. So is who has strayed. */
void gh_cluster_leave_if_new(gh_cluster* cluster, gh_node* node, uint16_t slot)
{
    const bool is_unasked = node->epoch == NULL || !gh_link_talks(&node->link);
    const bool is_new = is_unasked && gh_slots_map_is_only(&cluster->map, gh_cluster_place_number(node), slot);
    if (is_new || gh_cluster_place_of(node)->strayed) gh_cluster_leave(node);
}

/* Rows hold before their map has come to its end: who was asked for no epoch, and has slots by them, is asked for one
   before anything of these slots is. */
void gh_cluster_leave_gains_of_rows(const gh_cluster* cluster, gh_client* client)
{
    uint32_t place;
    if (cluster->link.state != GH_LINK_HANDSHAKE) return;
    for (place = 0; place < cluster->map.capacity; place++)
    {
        gh_node* node = &client->nodes[place];
        const bool gained = (cluster->map.nodes[place].gained & GH_SLOTS_GAINED_BY_ROW) != 0;
        if (!gained || !gh_link_talks(&node->link)) continue;
        if (node->epoch == NULL || cluster->places[place].strayed) gh_cluster_leave(node);
    }
}
