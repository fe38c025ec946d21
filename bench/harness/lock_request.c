/* lock_request.c -- records a lock cycle of Guildhall, and makes other cycles of it. */

#include "harness/lock_request.h"

#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    TAPE_SIZE = 64 * 1024,
    DONE_WITHIN_US = 5 * 1000 * 1000,
    HEX_DIGITS = 16
};

static const char recorded_name[] = "recorded_lock";
static const char state_key[] = "gh:{lock:recorded_lock}:s";

_Static_assert(sizeof recorded_name == BENCH_LOCK_NAME_SIZE + 1, "names must be equally long to replace each other");

/* --- the tape: a platform that passes everything on and keeps what is sent ------------------------------ */

typedef struct tape
{
    const gh_platform* real;
    bool running;
    size_t size;
    char bytes[TAPE_SIZE];
} tape;

static uint64_t tape_now_us(void* context)
{
    const gh_platform* real = ((tape*)context)->real;
    return real->now_us(real->context);
}

static bool tape_entropy(void* context, void* bytes, size_t size)
{
    const gh_platform* real = ((tape*)context)->real;
    return real->entropy(real->context, bytes, size);
}

static gh_status tape_open(void* context, const gh_address* address, intptr_t* stream)
{
    const gh_platform* real = ((tape*)context)->real;
    return real->open(real->context, address, stream);
}

static gh_status tape_connected(void* context, intptr_t stream)
{
    const gh_platform* real = ((tape*)context)->real;
    return real->connected(real->context, stream);
}

static int64_t tape_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    tape* self = context;
    int64_t sent = self->real->send(self->real->context, stream, bytes, size);
    if (sent > 0 && self->running && (size_t)sent < TAPE_SIZE - self->size)
    {
        memcpy(self->bytes + self->size, bytes, (size_t)sent);
        self->size += (size_t)sent;
    }
    return sent;
}

static int64_t tape_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    const gh_platform* real = ((tape*)context)->real;
    return real->receive(real->context, stream, bytes, size);
}

static void tape_close(void* context, intptr_t stream)
{
    const gh_platform* real = ((tape*)context)->real;
    real->close(real->context, stream);
}

/* --- from bytes to arguments ---------------------------------------------------------------------------- */

/* "<sign><number>\r\n" at *at, which moves behind it; -1 if it is not that. */
static long header(const char** at, const char* end, char sign)
{
    if (*at >= end || **at != sign)
    {
        return -1;
    }
    char* rest;
    long number = strtol(*at + 1, &rest, 10);
    *at = rest + 2;
    return *at <= end ? number : -1;
}

/* One command of the tape; NULL if there is no whole one any more. */
static const char* parse(const char* at, const char* end, bench_request* request)
{
    const char* begin = at;
    memset(request, 0, sizeof *request);
    long count = header(&at, end, '*');
    for (long i = 0; i < count; i++)
    {
        long size = header(&at, end, '$');
        if (size < 0 || size + 2 > end - at)
        {
            return NULL;
        }
        if (i < BENCH_REQUEST_ARGUMENTS_MAX)
        {
            request->arguments[i] = at;
            request->sizes[i] = (size_t)size;
        }
        at += size + 2;
    }
    bool fits = count <= BENCH_REQUEST_ARGUMENTS_MAX && at - begin <= BENCH_REQUEST_SIZE_MAX;
    request->count = fits ? (int)count : 0; /* a script's text, for instance: not what is looked for */
    return count < 0 ? NULL : at;
}

static bool contains(const bench_request* request, const char* text)
{
    size_t size = strlen(text);
    for (int i = 0; i < request->count; i++)
    {
        for (size_t k = 0; k + size <= request->sizes[i]; k++)
        {
            if (memcmp(request->arguments[i] + k, text, size) == 0)
            {
                return true;
            }
        }
    }
    return false;
}

/* The arguments, one behind the other, in the request's own bytes. */
static void own_arguments(bench_request* request)
{
    char* at = request->bytes;
    for (int i = 0; i < request->count; i++)
    {
        memcpy(at, request->arguments[i], request->sizes[i]);
        request->arguments[i] = at;
        at += request->sizes[i];
    }
}

/* Finds the token "<client>:<sequence>", and the argument that is the sequence in decimal. */
static bool find_token(bench_request* request, uint64_t client_id)
{
    char client[HEX_DIGITS + 2];
    char decimal[24] = "";
    snprintf(client, sizeof client, "%016llx:", (unsigned long long)client_id);
    for (int i = 0; i < request->count; i++)
    {
        char* argument = request->bytes + (request->arguments[i] - request->bytes);
        if (request->sizes[i] == 2 * HEX_DIGITS + 1 && memcmp(argument, client, HEX_DIGITS + 1) == 0)
        {
            request->token = argument + HEX_DIGITS + 1;
            char hex[HEX_DIGITS + 1] = "";
            memcpy(hex, request->token, HEX_DIGITS);
            snprintf(decimal, sizeof decimal, "%llu", strtoull(hex, NULL, 16));
        }
    }
    request->sequence = -1;
    for (int i = 0; i < request->count && request->token != NULL; i++)
    {
        bool is_it =
            request->sizes[i] == strlen(decimal) && memcmp(request->arguments[i], decimal, strlen(decimal)) == 0;
        bool behind_token = request->arguments[i] > request->token;
        request->sequence = is_it && behind_token && request->sequence < 0 ? i : request->sequence;
    }
    return request->token != NULL;
}

/* The next EVALSHA on the tape that names the recorded lock. */
static const char* find_request(const char* at, const char* end, uint64_t client_id, bench_request* request)
{
    while (at != NULL && (at = parse(at, end, request)) != NULL)
    {
        if (contains(request, "EVALSHA") && contains(request, recorded_name))
        {
            own_arguments(request);
            return find_token(request, client_id) ? at : NULL;
        }
    }
    return NULL;
}

/* --- recording ------------------------------------------------------------------------------------------ */

static bool reach(bench_client* client, const gh_lock* lock, gh_status wanted)
{
    uint64_t give_up_us = bench_now_us() + DONE_WITHIN_US;
    while (gh_op_poll(&lock->op) != wanted && bench_now_us() < give_up_us)
    {
        gh_tick(client->client, bench_now_us(), 0);
        bench_clients_wait(client, 1, 1000);
    }
    return gh_op_poll(&lock->op) == wanted;
}

/* Twice: the first cycle loads the scripts. Lease and wait are as long as can be, so that a request that is
   sent much later means the same. */
static bool cycle_twice(bench* self, bench_client* client, tape* all, bench_recording* recording)
{
    gh_lock lock;
    gh_lock_config config = gh_lock_config_default();
    memset(&lock, 0, sizeof lock);
    config.lease_us = GH_LOCK_LEASE_MAX_US;
    config.wait_us = GH_LOCK_WAIT_MAX_US;
    for (int i = 0; i < 2; i++)
    {
        all->running = i == 1;
        gh_lock_begin(&lock, client->client, gh_str_of(recorded_name), &config);
        if (!reach(client, &lock, GH_HELD) ||
            !bench_server_get(self->server, state_key, recording->held, sizeof recording->held))
        {
            return false;
        }
        gh_lock_release(&lock);
        if (!reach(client, &lock, GH_OK) ||
            !bench_server_get(self->server, state_key, recording->free, sizeof recording->free))
        {
            return false;
        }
    }
    return true;
}

bool bench_record_lock(bench* self, bench_recording* recording)
{
    static tape all;
    gh_platform platform = {&all,      tape_now_us,  tape_entropy, tape_open, tape_connected,
                            tape_send, tape_receive, tape_close,   NULL};
    gh_client_config config = bench_client_config(self);
    bench_client client;
    memset(&all, 0, sizeof all);
    all.real = gh_platform_default();
    config.address = gh_str_of(self->options.redis); /* in the open */
    config.wake = false;                             /* one stream on the tape */
    if (!bench_client_open(&client, &config, &platform))
    {
        return false;
    }
    const char* end = all.bytes;
    uint64_t id = gh_client_id(client.client);
    bool good = cycle_twice(self, &client, &all, recording);
    bench_client_close(&client);
    end += all.size;
    const char* behind = good ? find_request(all.bytes, end, id, &recording->acquire) : NULL;
    good = behind != NULL && find_request(behind, end, id, &recording->release) != NULL;
    if (!good)
    {
        fprintf(stderr, "  a lock cycle could not be recorded\n");
    }
    return good;
}

/* --- making others -------------------------------------------------------------------------------------- */

void bench_request_copy(bench_request* copy, const bench_request* recorded, const char name[BENCH_LOCK_NAME_SIZE])
{
    *copy = *recorded;
    copy->token = copy->bytes + (recorded->token - recorded->bytes);
    for (int i = 0; i < copy->count; i++)
    {
        char* argument = copy->bytes + (recorded->arguments[i] - recorded->bytes);
        copy->arguments[i] = argument;
        for (size_t k = 0; k + BENCH_LOCK_NAME_SIZE <= copy->sizes[i]; k++)
        {
            if (memcmp(argument + k, recorded_name, BENCH_LOCK_NAME_SIZE) == 0)
            {
                memcpy(argument + k, name, BENCH_LOCK_NAME_SIZE);
            }
        }
    }
    if (copy->sequence >= 0)
    {
        copy->arguments[copy->sequence] = copy->sequence_text;
        memcpy(copy->sequence_text, recorded->arguments[copy->sequence], copy->sizes[copy->sequence]);
    }
}

static size_t decimal(char* out, uint64_t value)
{
    char reverse[24];
    size_t size = 0;
    do
    {
        reverse[size++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (size_t i = 0; i < size; i++)
    {
        out[i] = reverse[size - 1 - i];
    }
    return size;
}

void bench_request_next(bench_request* request, uint64_t sequence)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < HEX_DIGITS; i++)
    {
        request->token[i] = digits[sequence >> (4 * (HEX_DIGITS - 1 - i)) & 15u];
    }
    if (request->sequence >= 0)
    {
        request->sizes[request->sequence] = decimal(request->sequence_text, sequence);
    }
}

size_t bench_request_size(const bench_request* request)
{
    char head[32];
    size_t size = (size_t)snprintf(head, sizeof head, "*%d\r\n", request->count);
    for (int i = 0; i < request->count; i++)
    {
        size += (size_t)snprintf(head, sizeof head, "$%zu\r\n", request->sizes[i]) + request->sizes[i] + 2;
    }
    return size;
}
