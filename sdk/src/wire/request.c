#include "wire/request.h"

#include "wire/name.h"

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

static void put_header(gh_request* request, char sign, uint64_t number)
{
    *request->at++ = sign;
    request->at = gh_decimal_encode(number, request->at);
    *request->at++ = '\r';
    *request->at++ = '\n';
}

static void put_bytes(gh_request* request, const char* bytes, size_t size)
{
    if (size > 0) memcpy(request->at, bytes, size);
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
    gh_request_joined(request, str, gh_str_make(NULL, 0));
}

void gh_request_joined(gh_request* request, gh_str first, gh_str second)
{
    if (!request_room(request, first.size + second.size + GH_REQUEST_HEADER_SIZE_MAX + 2)) return;
    put_header(request, '$', first.size + second.size);
    put_bytes(request, first.bytes, first.size);
    put_bytes(request, second.bytes, second.size);
    put_end(request);
}

void gh_request_number(gh_request* request, uint64_t number)
{
    char digits[20];
    size_t size = (size_t)(gh_decimal_encode(number, digits) - digits);
    gh_request_str(request, gh_str_make(digits, size));
}

void gh_request_token(gh_request* request, uint64_t client, uint64_t sequence)
{
    if (!request_room(request, GH_REQUEST_HEADER_SIZE_MAX + 35)) return;
    put_header(request, '$', 33);
    request->at = gh_hex_encode(client, request->at);
    *request->at++ = ':';
    request->at = gh_hex_encode(sequence, request->at);
    put_end(request);
}

void gh_request_key(gh_request* request, gh_str prefix, gh_str kind, gh_str name, char part)
{
    size_t size = prefix.size + kind.size + gh_name_encoded_size(name) + 6;
    if (!request_room(request, size + GH_REQUEST_HEADER_SIZE_MAX + 2)) return;
    put_header(request, '$', size);
    put_bytes(request, prefix.bytes, prefix.size);
    *request->at++ = ':';
    *request->at++ = '{';
    put_bytes(request, kind.bytes, kind.size);
    *request->at++ = ':';
    request->at = gh_name_encode(name, request->at);
    *request->at++ = '}';
    *request->at++ = ':';
    *request->at++ = part;
    put_end(request);
}

void gh_request_raw(gh_request* request, gh_str bytes)
{
    if (request_room(request, bytes.size)) put_bytes(request, bytes.bytes, bytes.size);
}
