/* slot_list.h -- the slots of all objects of a system, to be moved from one node of a pair to the other, and all that
   the nodes have in them.

       slot_list slots;
       slot_list_of(&slots, &drill_lock);               // or slot_list_add for single keys
       slot_list_set(&slots, nodes[1], "IMPORTING", id_of_0);
       slot_list_set(&slots, nodes[0], "MIGRATING", id_of_1); */

#ifndef GUILDHALL_TESTS_SLOT_LIST_H
#define GUILDHALL_TESTS_SLOT_LIST_H

#include "support/scene/drill.h"

#define SLOT_LIST_MAX 128

typedef struct slot_list
{
    unsigned slots[SLOT_LIST_MAX];
    size_t count;
} slot_list;

bool slot_list_has(const slot_list* self, unsigned slot);
void slot_list_add(slot_list* self, const char* key);

/* Of all keys of the system; of all shards where there are shards. */
void slot_list_of(slot_list* self, const drill_system* system);

/* CLUSTER SETSLOT for each of them. state: MIGRATING, IMPORTING or NODE, with the other's or the new owner's id; or
   STABLE, with "". */
void slot_list_set(const slot_list* self, redis_server* node, const char* state, const char* id);

/* The keys of the pattern, in order. freeReplyObject. */
redisReply* keys_in_order(redis_server* node, const char* pattern);

/* All of them with what they hold, behind what stands in `all`, which is NULL or was given here before; free it. */
char* keys_dump(char* all, size_t* size, redis_server* node, const char* pattern);

#endif
