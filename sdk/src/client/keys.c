/* keys.c -- pieces of requests: the head of a script's run, op ids, and keys of every form that KEYS.md has. */

#include "client/state.h"
#include "wire/name.h"

#define KEY_PREFIX_SIZE_MAX 32u
#define KEY_KIND_SIZE_MAX   16u
#define KEY_PART_SIZE_MAX   16u
#define KEY_HEADER_SIZE     8u /* "$999", and the ends of both lines */
#define KEY_SIZE_MAX           /* with what stands between the parts */                                                \
    (KEY_PREFIX_SIZE_MAX + KEY_KIND_SIZE_MAX + GH_DECIMAL_SIZE_MAX + KEY_PART_SIZE_MAX + 3 * GH_NAME_SIZE_MAX + 6)

void gh_request_script(gh_request* request, const gh_script* script, uint32_t more_keys, uint32_t more_arguments)
{
    const gh_script_text* text = gh_script_contract(script);
    const uint32_t keys = text == NULL ? 0 : text->keys.least;
    const uint32_t arguments = text == NULL ? 0 : text->arguments.least;
    gh_request_evalsha(request, script->digest, keys + more_keys, arguments + more_arguments);
}

void gh_request_op_script(gh_request* request, gh_op* op, uint32_t more_keys, uint32_t more_arguments)
{
    gh_request_script(request, request->script != NULL ? request->script : gh_op_script(op), more_keys, more_arguments);
}

size_t gh_client_script_room(const gh_client* client, gh_str kind, gh_str name, uint32_t keys, uint32_t numbers)
{
    const size_t room = gh_client_out_room(client);
    size_t key = client->config.prefix.size + kind.size + gh_name_encoded_size(name) + KEY_PART_SIZE_MAX;
    size_t head = 4 * gh_request_str_size(GH_REQUEST_DIGEST_SIZE) + (keys + 1) * (key + KEY_HEADER_SIZE) +
                  numbers * gh_request_str_size(GH_DECIMAL_SIZE_MAX);
    return room > head ? room - head : 0;
}

gh_str gh_client_prefix(const gh_client* client)
{
    return client->config.prefix;
}

void gh_request_object_keys(gh_request* request, const gh_client* client, gh_str kind, gh_str name, const char* parts)
{
    gh_request_keys(request, client->config.prefix, kind, name, parts);
}

void gh_request_object_script(gh_request* request, gh_op* op, gh_str kind, gh_str name, const char* parts)
{
    gh_request_op_script(request, op, 0, 0);
    gh_request_object_keys(request, op->client, kind, name, parts);
}

void gh_request_op_token(gh_request* request, const gh_op* op)
{
    gh_request_token(request, op->client->id, op->sequence);
}

void gh_request_op_id(gh_request* request, const gh_op* op)
{
    gh_request_op_token(request, op);
    gh_request_number(request, op->sequence);
}

/* The op's token, and until when one whose mark is not there may do anything: see mark.lua. Not by gh_request_str,
   which would count the time among the bytes that the caller has lent. */
static void request_token_until(gh_request* request, const gh_op* op)
{
    char text[GH_TOKEN_SIZE + 1 + GH_DECIMAL_SIZE_MAX];
    char* end = gh_token_encode(op->client->id, op->sequence, text);
    char* at;
    *end++ = ':';
    end = gh_decimal_encode(gh_op_not_after(op), end);
    at = gh_request_bulk(request, (size_t)(end - text));
    if (at != NULL) memcpy(at, text, (size_t)(end - text));
}

void gh_request_marked_script(gh_request* request, gh_op* op, uint32_t more_arguments, gh_str kind, gh_str name,
                              const char* parts)
{
    gh_request_op_script(request, op, 0, more_arguments);
    gh_request_object_keys(request, op->client, kind, name, parts);
    if (gh_request_is_route(request)) return;
    gh_request_shelf_key(request, op->client->config.prefix, kind, name, op->client->id);
    request_token_until(request, op);
    gh_request_number(request, op->sequence);
}

void gh_request_digest(gh_request* request, const gh_digest* digest)
{
    char text[2 * GH_HEX_SIZE];
    uint64_t halves[2] = {0, 0};
    size_t i;
    for (i = 0; i < 16; i++) halves[i / 8] = halves[i / 8] << 8 | digest->bytes[i];
    gh_hex_encode(halves[1], gh_hex_encode(halves[0], text));
    gh_request_str(request, gh_str_make(text, sizeof text));
}

/* ---- keys with longer parts, and of things that share a shard ---------------------------------------------- */

static char* key_add(char* end, gh_str bytes)
{
    if (bytes.size > 0) memcpy(end, bytes.bytes, bytes.size);
    return end + bytes.size;
}

/* "<prefix>:{<kind>:" */
static char* key_begin(const gh_client* client, gh_str kind, char* key)
{
    char* end = key_add(key, client->config.prefix);
    *end++ = ':';
    *end++ = '{';
    end = key_add(end, kind);
    *end++ = ':';
    return end;
}

void gh_request_part_keys(gh_request* request, const gh_client* client, gh_str kind, gh_str name, gh_str parts)
{
    char key[KEY_SIZE_MAX];
    char* end = key_begin(client, kind, key);
    char* part;
    size_t i;
    end = gh_name_encode(name, end);
    *end++ = '}';
    *end++ = ':';
    part = end;
    for (i = 0; i <= parts.size; i++)
    {
        if (i < parts.size && parts.bytes[i] != ' ')
        {
            if (end - part < (ptrdiff_t)KEY_PART_SIZE_MAX) *end++ = parts.bytes[i];
            continue;
        }
        gh_request_key(request, gh_str_make(key, (size_t)(end - key)));
        if (gh_request_is_route(request)) return;
        end = part;
    }
}

void gh_request_shard_key(gh_request* request, const gh_client* client, gh_str kind, uint32_t shard, gh_str part,
                          gh_str encoded_name)
{
    char key[KEY_SIZE_MAX];
    char* end;
    if (kind.size > KEY_KIND_SIZE_MAX || part.size > KEY_PART_SIZE_MAX || encoded_name.size > 3 * GH_NAME_SIZE_MAX)
    {
        request->full = true; /* no such key is ours */
        return;
    }
    end = key_begin(client, kind, key);
    end = gh_decimal_encode(shard, end);
    *end++ = '}';
    *end++ = ':';
    end = key_add(end, part);
    if (encoded_name.size > 0) *end++ = ':';
    end = key_add(end, encoded_name);
    gh_request_key(request, gh_str_make(key, (size_t)(end - key)));
}

void gh_request_node_epoch_key(gh_request* request, const gh_node* node)
{
    char key[KEY_PREFIX_SIZE_MAX + 2 + GH_DECIMAL_SIZE_MAX + 7];
    char* end = key_add(key, node->client->config.prefix);
    if (!node->client->many_servers)
    {
        gh_request_epoch_key(request, node->client);
        return;
    }
    end = gh_decimal_encode(node->epoch_tag, key_add(end, gh_str_literal(":{")));
    end = key_add(end, gh_str_literal("}:epoch"));
    gh_request_key(request, gh_str_make(key, (size_t)(end - key)));
}

void gh_request_epoch_key(gh_request* request, const gh_client* client)
{
    char key[KEY_PREFIX_SIZE_MAX + 8];
    char* end = key_add(key_add(key, client->config.prefix), gh_str_literal(":epoch"));
    gh_request_key(request, gh_str_make(key, (size_t)(end - key)));
}
