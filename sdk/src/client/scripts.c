/* scripts.c -- Guildhall's scripts: their texts, their digests, and SCRIPT LOAD. */

#define GH_SCRIPT_TEXTS
#include "client/state.h"

#include <string.h>

/* The fence check, up to 8 shared pieces, and the script's own text around each: premake5.lua sees to the 8. */
#define SCRIPT_PIECES_MAX 18u

/* What several scripts share, each piece once. In a script's text a byte from SCRIPT_PART_FIRST to below a
   blank stands for a piece. */
#define SCRIPT_PART_FIRST 11
static const gh_str script_parts[] = {
#define SCRIPT_PART(name) {gh_script_part_##name, sizeof gh_script_part_##name - 1},
    GH_SCRIPT_PART_LIST(SCRIPT_PART)
#undef SCRIPT_PART
};
#define SCRIPT_PARTS (sizeof script_parts / sizeof script_parts[0])

void gh_scripts_init(gh_client* client)
{
#define GH_SCRIPT_SET(name)                                                                                  \
    client->scripts[GH_SCRIPT_##name].text =                                                                 \
        gh_str_make(gh_script_text_##name, sizeof gh_script_text_##name - 1);
    GH_SCRIPT_LIST(GH_SCRIPT_SET)
#undef GH_SCRIPT_SET
    client->scripts[GH_SCRIPT_command].fenced = true; /* it is never used without the check */
}

/* A text of ours, not one that the caller gave us. */
bool gh_script_is_ours(const gh_client* client, const gh_script* script)
{
    return (uintptr_t)script - (uintptr_t)client->scripts < sizeof client->scripts;
}

bool gh_script_wants_phantom(const gh_client* client, const gh_script* script)
{
    return gh_script_is_ours(client, script) && script != &client->scripts[GH_SCRIPT_lock_renew] &&
           script != &client->scripts[GH_SCRIPT_semaphore_refresh] && script != &client->scripts[GH_SCRIPT_command];
}

/* Writes the text of ours with its parts in their places. Returns how many pieces that makes. */
static size_t script_expand(gh_str text, gh_str* pieces)
{
    const char* end = text.bytes + text.size;
    const char* at = text.bytes;
    const char* from = at;
    size_t count = 0;
    for (; at < end; at++)
    {
        size_t part = (size_t)(unsigned char)*at - SCRIPT_PART_FIRST; /* of other bytes a number too large */
        if (part >= SCRIPT_PARTS) continue;
        pieces[count++] = gh_str_make(from, (size_t)(at - from));
        pieces[count++] = script_parts[part];
        from = at + 1;
    }
    pieces[count++] = gh_str_make(from, (size_t)(end - from));
    return count;
}

/* SCRIPT LOAD of the text, behind the fence check if the script is to be fenced. False: no room now. */
bool gh_script_encode_load(gh_client* client, gh_script* script, gh_slot_purpose purpose, gh_op* op)
{
    gh_request request = gh_link_request(&client->commands);
    gh_str pieces[SCRIPT_PIECES_MAX];
    size_t count = 0;
    if (!gh_pipeline_has_room(client)) return false;
    if (script->fenced) pieces[count++] = client->scripts[GH_SCRIPT_fenced].text;
    if (gh_script_is_ours(client, script))
        count += script_expand(script->text, &pieces[count]);
    else
        pieces[count++] = script->text;
    gh_request_array(&request, 3);
    gh_request_str(&request, gh_str_literal("SCRIPT"));
    gh_request_str(&request, gh_str_literal("LOAD"));
    gh_request_pieces(&request, pieces, count);
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
