/* scripts.c -- scripts, Guildhall's and callers': SCRIPT LOAD, and their digests. */

#include "client/link.h"
#include "client/state.h"

#include <string.h>

gh_script* gh_client_script(gh_client* client, const gh_script_text* text)
{
    gh_script* script = &client->scripts[text->id];
    script->own = text;
    script->number = (uint8_t)(text->id + 1);
    return script;
}

void gh_scripts_init(gh_client* client)
{
    gh_client_script(client, &gh_epoch_lua);
    gh_client_script(client, &gh_rights_lua);
}

gh_script* gh_op_script(gh_op* op)
{
    const gh_op_kind* kind = op->kind;
    if (kind->text != NULL) return gh_client_script(op->client, kind->text);
    return kind->script == NULL ? NULL : kind->script(op);
}

bool gh_script_is_ours(const gh_script* script)
{
    return script != NULL && script->own != NULL;
}

static uint64_t text_commands(const gh_script_text* text)
{
    return text == NULL ? 0 : text->commands;
}

uint64_t gh_script_commands(const gh_script* script)
{
    return text_commands(script->own) | text_commands(script->front) | text_commands(script->behind);
}

const gh_script_text* gh_script_contract(const gh_script* script)
{
    if (script == NULL) return NULL;
    return script->behind != NULL ? script->behind : script->own;
}

const char* gh_answer_shape(const gh_op_kind* kind, const gh_script* script)
{
    const gh_script_text* text = gh_script_contract(script);
    if (script == NULL) return kind->answers_array ? "*" : NULL;
    return text == NULL ? NULL : text->shape;
}

/* What stands around a caller's script has keys of its own beside the caller's, who answers for those. */
bool gh_script_wants_phantom(const gh_script* script)
{
    return gh_script_is_ours(script) && script->front == NULL && script->behind == NULL && !script->own->goes_on;
}

/* ---- the text of a script, with what stands around it ------------------------------------------------------------ */

/* Where the next piece of a text goes; NULL while it is only measured. */
typedef struct script_writer
{
    char* at;
    size_t size; /* of all pieces so far */
} script_writer;

static void write_piece(script_writer* writer, gh_str piece)
{
    writer->size += piece.size;
    if (writer->at == NULL) return;
    memcpy(writer->at, piece.bytes, piece.size);
    writer->at += piece.size;
}

static void write_ours(script_writer* writer, const gh_script_text* text)
{
    writer->size += text->size;
    if (writer->at != NULL) writer->at = gh_script_unpack(text, writer->at);
}

static void write_body(script_writer* writer, const gh_script* script)
{
    if (script->own == NULL) write_piece(writer, script->text);
    else write_ours(writer, script->own);
}

/* What stands behind a text decides when that runs, and so gets it, and the fence's check, as functions. No line comes
   before the text: errors name its lines as they are. A text may end with a comment. */
static void write_with_behind(script_writer* writer, const gh_script* script)
{
    write_piece(writer, gh_str_literal("local gh_body=function(KEYS,ARGV,...) "));
    write_body(writer, script);
    write_piece(writer, gh_str_literal("\nend local gh_fence"));
    if (script->front != NULL)
    {
        write_piece(writer, gh_str_literal("=function(KEYS,ARGV) "));
        write_ours(writer, script->front);
        write_piece(writer, gh_str_literal("\nend"));
    }
    write_piece(writer, gh_str_literal("\n"));
    write_ours(writer, script->behind);
}

static void write_script(script_writer* writer, const gh_script* script)
{
    if (script->behind != NULL)
    {
        write_with_behind(writer, script);
        return;
    }
    if (script->front != NULL) write_ours(writer, script->front);
    write_body(writer, script);
}

static void encode_text(gh_request* request, const gh_script* script)
{
    script_writer writer = {NULL, 0};
    write_script(&writer, script);
    writer.at = gh_request_bulk(request, writer.size);
    if (writer.at != NULL) write_script(&writer, script);
}

/* ---- on the wire ------------------------------------------------------------------------------------------------- */

void gh_script_note_loaded(gh_node* node, gh_script* script)
{
    if (script->number != 0) node->scripts |= gh_script_bit(script);
    else script->loaded = node->link.generation;
}

/* SCRIPT LOAD of the text, with what stands around it. False: no room now. */
bool gh_script_encode_load(gh_node* node, gh_script* script, gh_slot_purpose purpose, gh_op* op)
{
    gh_request request = gh_link_request(&node->link);
    if (!gh_slots_have_room(node)) return false;
    gh_request_array(&request, 3);
    gh_request_str(&request, gh_str_literal("SCRIPT"));
    gh_request_str(&request, gh_str_literal("LOAD"));
    encode_text(&request, script);
    if (!gh_link_commit(&node->link, &request)) return false;
    gh_script_note_loaded(node, script);
    gh_slots_add(node, purpose, op, script);
    return true;
}

/* The server has compiled it and says its digest. An error was taken care of before. */
void gh_script_note_digest(gh_node* node, gh_script* script, const gh_reply* reply)
{
    if (reply->type != GH_REPLY_STRING || reply->text.size != sizeof script->digest) return;
    memcpy(script->digest, reply->text.bytes, sizeof script->digest);
    script->known = true;
    gh_script_note_loaded(node, script);
}
