/* lock_request.c -- the arguments of acquire and release, made as cheaply as one would by hand. */

#include "lock_request.h"

bool bench_lock_scripts_load(bench* self, bench_lock_scripts* scripts)
{
    return bench_server_load(self, "lock_acquire.lua", scripts->acquire) &&
           bench_server_load(self, "lock_release.lua", scripts->release);
}

static void hex(char* out, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 15; i >= 0; i--)
    {
        out[i] = digits[value & 15u];
        value >>= 4;
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

static void measure(const char* const* arguments, size_t* sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
    {
        sizes[i] = strlen(arguments[i]);
    }
}

void bench_lock_request_make(bench_lock_request* self, const bench_lock_scripts* scripts, unsigned number,
                             uint64_t client_id)
{
    memset(self, 0, sizeof *self);
    for (size_t i = 0; i < 3; i++)
    {
        snprintf(self->keys[i], sizeof self->keys[i], "gh:{lock:peer_%u}:%c", number, "sqc"[i]);
    }
    hex(self->token, client_id);
    self->token[16] = ':';
    bench_lock_request_next(self, 0);

    const char* acquire[BENCH_ACQUIRE_ARGUMENTS] = {"EVALSHA", scripts->acquire, "3", self->keys[0], self->keys[1],
                                                    self->keys[2], self->token, self->sequence, "10000000",
                                                    "15000000", "200000", "0", "0"};
    const char* release[BENCH_RELEASE_ARGUMENTS] = {"EVALSHA", scripts->release, "3", self->keys[0], self->keys[1],
                                                    self->keys[2], self->token, self->sequence, "200000"};
    memcpy(self->acquire, acquire, sizeof acquire);
    memcpy(self->release, release, sizeof release);
    measure(self->acquire, self->acquire_size, BENCH_ACQUIRE_ARGUMENTS);
    measure(self->release, self->release_size, BENCH_RELEASE_ARGUMENTS);
}

void bench_lock_request_next(bench_lock_request* self, uint64_t sequence)
{
    hex(self->token + 17, sequence);
    size_t size = decimal(self->sequence, sequence);
    self->sequence[size] = 0;
    self->acquire_size[7] = size;
    self->release_size[7] = size;
}
