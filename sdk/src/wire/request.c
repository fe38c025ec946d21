/* request.c -- requests, written straight into the bytes to be sent. */

#include "wire/request.h"

#include "wire/name.h"

#define ROUTE_KEY_SIZE_MAX 384u

/* Room for size bytes, or the request is full from here on. */
static bool request_room(gh_request* request, size_t size)
{
    if (request->full || (size_t)(request->end - request->at) < size)
    {
        request->full = true;
        return false;
    }
    return true;
}

/* Nearly all headers have one digit or two. */
static void put_header(gh_request* request, char sign, uint64_t number)
{
    char* at = request->at;
    *at++ = sign;
    if (number >= 100)
    {
        at = gh_decimal_encode(number, at);
    }
    else
    {
        if (number >= 10) *at++ = (char)('0' + number / 10);
        *at++ = (char)('0' + number % 10);
    }
    *at++ = '\r';
    *at++ = '\n';
    request->at = at;
}

static void put_bytes(gh_request* request, const char* bytes, size_t size)
{
    if (bytes == NULL) return; /* size is 0: whoever takes strings from a caller has seen to that */
    memcpy(request->at, bytes, size);
    request->at += size;
}

static void put_end(gh_request* request)
{
    *request->at++ = '\r';
    *request->at++ = '\n';
}

void gh_request_array(gh_request* request, uint32_t count)
{
    if (request_room(request, GH_REQUEST_HEADER_SIZE_MAX)) put_header(request, '*', count);
}

void gh_request_str(gh_request* request, gh_str str)
{
    if (!request_room(request, str.size + GH_REQUEST_HEADER_SIZE_MAX + 2))
    {
        gh_sum_add(&request->sum, str);
        return;
    }
    put_header(request, '$', str.size);
    put_bytes(request, str.bytes, str.size);
    put_end(request);
}

char* gh_request_bulk(gh_request* request, size_t size)
{
    char* bytes;
    if (!request_room(request, size + GH_REQUEST_HEADER_SIZE_MAX + 2)) return NULL;
    put_header(request, '$', size);
    bytes = request->at;
    request->at += size;
    put_end(request);
    return bytes;
}

void gh_request_joined(gh_request* request, gh_str first, gh_str second)
{
    char* at = gh_request_bulk(request, first.size + second.size);
    if (at == NULL)
    {
        gh_sum_add(&request->sum, first);
        gh_sum_add(&request->sum, second);
        return;
    }
    if (first.size > 0) memcpy(at, first.bytes, first.size);
    if (second.size > 0) memcpy(at + first.size, second.bytes, second.size);
}

/* Every second number is a count, a flag or none. */
static void put_digit(gh_request* request, uint64_t digit)
{
    memcpy(request->at, "$1\r\n0\r\n", 7);
    request->at[4] = (char)('0' + digit);
    request->at += 7;
}

void gh_request_number(gh_request* request, uint64_t number)
{
    size_t size;
    if (number < 10 && request_room(request, GH_REQUEST_HEADER_SIZE_MAX + 3))
    {
        put_digit(request, number);
        return;
    }
    size = gh_decimal_size(number);
    if (!request_room(request, size + GH_REQUEST_HEADER_SIZE_MAX + 2)) return;
    put_header(request, '$', size);
    request->at = gh_decimal_write(number, size, request->at);
    put_end(request);
}

void gh_request_evalsha(gh_request* request, const char* digest, uint32_t keys, uint32_t arguments)
{
    const gh_str name = gh_str_literal("$7\r\nEVALSHA\r\n$40\r\n");
    if (!request_room(request, GH_REQUEST_HEADER_SIZE_MAX + name.size + GH_REQUEST_DIGEST_SIZE + 2)) return;
    if (keys == 0) request->phantom = 0;
    request->keys_left = keys;
    if (request->phantom != 0) keys++;
    put_header(request, '*', 3 + (uint64_t)keys + arguments);
    put_bytes(request, name.bytes, name.size);
    put_bytes(request, digest, GH_REQUEST_DIGEST_SIZE);
    put_end(request);
    gh_request_number(request, keys);
}

/* So many keys were written, the last of which is this one. */
static void keys_written(gh_request* request, uint32_t count, gh_str key)
{
    const char part[2] = {':', request->phantom};
    const char* brace;
    if (request->phantom == 0 || request->full) return;
    request->keys_left -= count;
    if (request->keys_left > 0) return;
    brace = (const char*)memchr(key.bytes, '}', key.size);
    key.size = brace == NULL ? key.size : (size_t)(brace - key.bytes) + 1;
    gh_request_joined(request, key, gh_str_make(part, sizeof part));
}

/* The same for keys whose last one stands there as "$<size>\r\n<key>\r\n". */
static void keys_put(gh_request* request, uint32_t count, const char* first, const char* end)
{
    const char* key;
    if (request->phantom == 0) return;
    key = (const char*)memchr(first, '\n', (size_t)(end - first)) + 1;
    keys_written(request, count, gh_str_make(key, (size_t)(end - key) - 2));
}

void gh_request_key(gh_request* request, gh_str key)
{
    if (request->full && request->route != NULL)
    {
        gh_request_tell(request, key);
        return;
    }
    gh_request_str(request, key);
    keys_written(request, 1, key);
}

void gh_request_token(gh_request* request, uint64_t client, uint64_t sequence)
{
    if (!request_room(request, GH_REQUEST_HEADER_SIZE_MAX + 35)) return;
    memcpy(request->at, "$33\r\n", 5);
    request->at = gh_token_encode(client, sequence, request->at + 5);
    put_end(request);
}

/* "$<size>\r\n<prefix>:{<kind>:<name>}:"; the part is to follow. */
static void put_key_head(gh_request* request, gh_str prefix, gh_str kind, gh_str name, size_t name_size,
                         size_t part_size)
{
    put_header(request, '$', prefix.size + kind.size + name_size + part_size + 5);
    put_bytes(request, prefix.bytes, prefix.size);
    *request->at++ = ':';
    *request->at++ = '{';
    put_bytes(request, kind.bytes, kind.size);
    *request->at++ = ':';
    if (name_size == name.size) /* as nearly all names */
        put_bytes(request, name.bytes, name.size);
    else request->at = gh_name_encode(name, request->at);
    *request->at++ = '}';
    *request->at++ = ':';
}

/* "$<size>\r\n<prefix>:{<kind>:<name>}:<part>\r\n", and where the part stands */
static char* put_key(gh_request* request, gh_str prefix, gh_str kind, gh_str name, size_t name_size, char part)
{
    char* place;
    put_key_head(request, prefix, kind, name, name_size, 1);
    place = request->at;
    *request->at++ = part;
    put_end(request);
    return place;
}

/* What of an object's keys is the same in all: "<prefix>:{<kind>:<name>}:" */
static void route_object(gh_route* route, gh_str prefix, gh_str kind, gh_str name)
{
    char key[ROUTE_KEY_SIZE_MAX];
    gh_request request = gh_request_route(NULL);
    const char* first;
    if (prefix.size + kind.size + gh_name_encoded_size(name) + 32 > sizeof key) return;
    request.at = key;
    put_key_head(&request, prefix, kind, name, gh_name_encoded_size(name), 1);
    first = (const char*)memchr(key, '\n', sizeof key) + 1;
    route->key(route, gh_str_make(first, (size_t)(request.at - first)));
}

void gh_request_keys(gh_request* request, gh_str prefix, gh_str kind, gh_str name, const char* parts)
{
    size_t name_size = gh_name_encoded_size(name);
    size_t size_max = prefix.size + kind.size + name_size + 6 + GH_REQUEST_HEADER_SIZE_MAX + 2;
    const char* first = request->at;
    uint32_t count = (uint32_t)strlen(parts);
    size_t size;
    size_t part_at;
    if (!request_room(request, size_max * count))
    {
        if (request->route != NULL) route_object(request->route, prefix, kind, name);
        return;
    }
    part_at = (size_t)(put_key(request, prefix, kind, name, name_size, *parts) - first);
    size = (size_t)(request->at - first);
    for (parts++; *parts != 0; parts++) /* the same bytes but one */
    {
        memcpy(request->at, first, size);
        request->at[part_at] = *parts;
        request->at += size;
    }
    keys_put(request, count, first, first + size);
}

void gh_request_shelf_key(gh_request* request, gh_str prefix, gh_str kind, gh_str name, uint64_t client)
{
    static const char digits[] = "0123456789abcdef";
    size_t name_size = gh_name_encoded_size(name);
    const char* first = request->at;
    if (!request_room(request, prefix.size + kind.size + name_size + 8 + GH_REQUEST_HEADER_SIZE_MAX + 2)) return;
    put_key_head(request, prefix, kind, name, name_size, 3);
    *request->at++ = 'w';
    *request->at++ = digits[client >> 60];
    *request->at++ = digits[client >> 56 & 15];
    put_end(request);
    keys_put(request, 1, first, request->at);
}
