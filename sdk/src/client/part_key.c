/* part_key.c -- keys of objects whose parts have names of more than one letter, such as the lists of a
   queue's classes. */

#include "client/state.h"
#include "wire/name.h"

#define KIND_SIZE_MAX 16u
#define PART_SIZE_MAX 8u
#define PREFIX_SIZE_MAX 32u

static char* part_key_add(char* end, gh_str bytes)
{
    memcpy(end, bytes.bytes, bytes.size);
    return end + bytes.size;
}

void gh_request_part_keys(gh_request* request, const gh_client* client, gh_str kind, gh_str name,
                          gh_str parts)
{
    char key[PREFIX_SIZE_MAX + KIND_SIZE_MAX + 3 * GH_NAME_SIZE_MAX + PART_SIZE_MAX + 5];
    char* end = part_key_add(key, client->config.prefix);
    char* part;
    size_t i;
    *end++ = ':';
    *end++ = '{';
    end = part_key_add(end, kind);
    *end++ = ':';
    end = gh_name_encode(name, end);
    *end++ = '}';
    *end++ = ':';
    part = end;
    for (i = 0; i <= parts.size; i++)
    {
        if (i < parts.size && parts.bytes[i] != ' ')
        {
            if (end - part < (ptrdiff_t)PART_SIZE_MAX) *end++ = parts.bytes[i];
            continue;
        }
        gh_request_str(request, gh_str_make(key, (size_t)(end - key)));
        end = part;
    }
}
