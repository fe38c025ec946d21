/* shard_key.c -- keys of things that share a shard: its number stands in the braces, the thing behind them.
 */

#include "client/state.h"
#include "wire/name.h"

#define SHARD_KIND_SIZE_MAX   16u
#define SHARD_PART_SIZE_MAX   16u
#define SHARD_PREFIX_SIZE_MAX 32u

static char* shard_key_add(char* end, gh_str bytes)
{
    if (bytes.size > 0) memcpy(end, bytes.bytes, bytes.size);
    return end + bytes.size;
}

void gh_request_shard_key(gh_request* request, const gh_client* client, gh_str kind, uint32_t shard,
                          gh_str part, gh_str encoded_name)
{
    char key[SHARD_PREFIX_SIZE_MAX + SHARD_KIND_SIZE_MAX + SHARD_PART_SIZE_MAX + 3 * GH_NAME_SIZE_MAX + 16];
    char* end = key;
    if (kind.size > SHARD_KIND_SIZE_MAX || part.size > SHARD_PART_SIZE_MAX ||
        encoded_name.size > 3 * GH_NAME_SIZE_MAX)
    {
        request->full = true; /* no such key is ours */
        return;
    }
    end = shard_key_add(end, client->config.prefix);
    *end++ = ':';
    *end++ = '{';
    end = shard_key_add(end, kind);
    *end++ = ':';
    end = gh_decimal_encode(shard, end);
    *end++ = '}';
    *end++ = ':';
    end = shard_key_add(end, part);
    if (encoded_name.size > 0) *end++ = ':';
    end = shard_key_add(end, encoded_name);
    gh_request_str(request, gh_str_make(key, (size_t)(end - key)));
}
