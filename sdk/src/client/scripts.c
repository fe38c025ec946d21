/* scripts.c -- scripts, Guildhall's and callers': SCRIPT LOAD, and their digests. */

#include "client/state.h"

#include <string.h>

void gh_scripts_init(gh_client* client)
{
    gh_client_script(client, &gh_epoch_lua);
    gh_client_script(client, &gh_rights_lua);
}

bool gh_script_is_ours(const gh_script* script)
{
    return script != NULL && script->own != NULL;
}

bool gh_script_wants_phantom(const gh_client* client, const gh_script* script)
{
    return gh_script_is_ours(script) && script != &client->scripts[GH_SCRIPT_lock_renew] &&
           script != &client->scripts[GH_SCRIPT_semaphore_refresh] && script != &client->scripts[GH_SCRIPT_command];
}

static void encode_text(gh_request* request, const gh_script* script)
{
    size_t front_size = script->front == NULL ? 0 : script->front->size;
    size_t size = script->own == NULL ? script->text.size : script->own->size;
    char* at = gh_request_bulk(request, front_size + size);
    if (at == NULL) return;
    if (script->front != NULL) at = gh_script_unpack(script->front, at);
    if (script->own == NULL)
        memcpy(at, script->text.bytes, script->text.size);
    else
        gh_script_unpack(script->own, at);
}

/* SCRIPT LOAD of the text, and of what stands in front of it. False: no room now. */
bool gh_script_encode_load(gh_client* client, gh_script* script, gh_slot_purpose purpose, gh_op* op)
{
    gh_request request = gh_link_request(&client->commands);
    if (!gh_pipeline_has_room(client)) return false;
    gh_request_array(&request, 3);
    gh_request_str(&request, gh_str_literal("SCRIPT"));
    gh_request_str(&request, gh_str_literal("LOAD"));
    encode_text(&request, script);
    if (!gh_link_commit(&client->commands, &request)) return false;
    script->loaded = client->commands.generation;
    gh_pipeline_push(client, purpose, op, script);
    return true;
}

/* The server has compiled it and says its digest. An error was taken care of before. */
void gh_script_note_digest(gh_client* client, gh_script* script, const gh_reply* reply)
{
    if (reply->type != GH_REPLY_STRING || reply->text.size != sizeof script->digest) return;
    memcpy(script->digest, reply->text.bytes, sizeof script->digest);
    script->known = true;
    script->loaded = client->commands.generation;
}
