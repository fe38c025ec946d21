/* object.c -- what queues, guilds, mailboxes and the like have in common. */

#include "client/object.h"

#include "client/state.h"
#include "wire/name.h"

static gh_status object_problem(gh_client* client, gh_str name, const gh_bounds* bounds, const void* config)
{
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    return gh_refusal_check(bounds, config, client);
}

gh_status gh_object_init(gh_object* object, gh_client* client, gh_str name, const gh_bounds* bounds, const void* config,
                         size_t config_at)
{
    gh_status status;
    void* kept;
    if (object == NULL) return GH_INVALID_OBJECT;
    kept = (char*)object + config_at;
    gh_bounds_fill(bounds, kept);
    memset(object, 0, sizeof *object);
    object->client = client;
    status = object_problem(client, name, bounds, config == NULL ? kept : config);
    if (status == GH_OK) gh_name_keep(&object->name, name);
    if (status == GH_OK && config != NULL) memcpy(kept, config, bounds->config_size);
    return gh_object_made(object, status);
}

gh_status gh_object_made(gh_object* object, gh_status status)
{
    object->status = status;
    gh_refusal_note(object->client, status);
    return status;
}

gh_status gh_object_check(const gh_op* op, const gh_object* object)
{
    gh_status status;
    if (object == NULL || (object->client == NULL && object->status == GH_OK)) return GH_INVALID_OBJECT;
    status = gh_op_check(op, object->client);
    return status == GH_OK ? object->status : status;
}

gh_status gh_named_check(const gh_op* op, gh_client* client, gh_str name, const gh_bounds* bounds, const void* config)
{
    gh_status status = gh_op_check(op, client);
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    return gh_refusal_check(bounds, config, client);
}

size_t gh_object_script_room(const gh_object* object, gh_str kind, uint32_t keys, uint32_t numbers)
{
    return gh_client_script_room(object->client, kind, gh_name_str(&object->name), keys, numbers);
}

gh_status gh_object_begun(gh_op* op, const gh_object* object, gh_status status)
{
    return gh_op_begun(op, object == NULL ? NULL : object->client, status);
}
