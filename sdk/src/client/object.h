/* object.h -- what a program makes once and begins ops on: a queue, a guild, a mailbox. It says the client, the name
   and the settings, so that no two calls on it differ.

   It is a value: nothing points to it once a begin has returned, so it may be copied, moved and forgotten at any time.
   Contacts with a mirror alone are none. */

#ifndef GH_OBJECT_H
#define GH_OBJECT_H

#include "client/op.h"
#include "client/refusal.h"

/* Keeps config, or the usual if that is NULL, as far behind the object as config_at says: structs with these bounds.
   GH_OK; GH_INVALID_OBJECT: it is NULL; GH_INVALID_CLIENT, _NAME, _CONFIG, or the status of the row that is broken;
   kept in the object, so that a begin on what was not made well says why. */
gh_status gh_object_init(gh_object* object, gh_client* client, gh_str name, const gh_bounds* bounds, const void* config,
                         size_t config_at);

/* Keeps what its init finds beside, and answers it. */
gh_status gh_object_made(gh_object* object, gh_status status);

/* Whether op may begin on it: as gh_op_check, GH_INVALID_OBJECT, or what its init answered. */
gh_status gh_object_check(const gh_op* op, const gh_object* object);

/* The same of an op that is begun on a name alone, with a config of its own: structs with these bounds. */
gh_status gh_named_check(const gh_op* op, gh_client* client, gh_str name, const gh_bounds* bounds, const void* config);

/* gh_client_script_room of a script with so many of its keys and numbers. */
size_t gh_object_script_room(const gh_object* object, gh_str kind, uint32_t keys, uint32_t numbers);

/* gh_op_begun for an op that was to begin on it. */
gh_status gh_object_begun(gh_op* op, const gh_object* object, gh_status status);

#endif
