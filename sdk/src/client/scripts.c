/* scripts.c -- Guildhall's scripts: their texts, their digests, and SCRIPT LOAD. */

#define GH_SCRIPT_TEXTS
#include "client/state.h"

void gh_scripts_init(gh_client* client)
{
#define GH_SCRIPT_SET(name)                                                                                          \
    client->scripts[GH_SCRIPT_##name].text = gh_str_make(gh_script_text_##name, sizeof gh_script_text_##name - 1);
    GH_SCRIPT_LIST(GH_SCRIPT_SET)
#undef GH_SCRIPT_SET
    client->scripts[GH_SCRIPT_command].fenced = true; /* it is never used without the check */
}

/* SCRIPT LOAD of the text, behind the fence check if the script is to be fenced. False: no room now. */
bool gh_script_encode_load(gh_client* client, gh_script* script, gh_slot_purpose purpose, gh_op* op)
{
    gh_request request = gh_link_request(&client->commands);
    gh_str check = gh_str_make(NULL, 0);
    if (!gh_pipeline_has_room(client)) return false;
    if (script->fenced) check = client->scripts[GH_SCRIPT_fenced].text;
    gh_request_array(&request, 3);
    gh_request_str(&request, gh_str_literal("SCRIPT"));
    gh_request_str(&request, gh_str_literal("LOAD"));
    gh_request_joined(&request, check, script->text);
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
