/* inflate.c -- gzip a piece at a time, by zlib, in memory that the caller gives; no other file sees zlib. */

#include "files/inflate.h"

#if defined(GH_WITH_ZLIB)

#include "base/arena.h"

#include <zlib.h>

#define INFLATE_IN_MAX      0x40000000u
#define INFLATE_GZIP_WINDOW (15 + 16) /* windowBits: 32 KiB, and a gzip header */

struct gh_inflate
{
    z_stream stream;
    gh_arena arena; /* what zlib asks for comes from here, and nothing goes back before the next begin */
    bool between;   /* a member has ended, or none has begun */
    bool padding;   /* zeros behind the last member: nothing else may follow */
    bool begun;     /* there was a member */
};

bool gh_inflate_is_there(void)
{
    return true;
}

static voidpf inflate_take(voidpf opaque, uInt count, uInt size)
{
    return gh_arena_take(&((gh_inflate*)opaque)->arena, (size_t)count * size);
}

static void inflate_give(voidpf opaque, voidpf address)
{
    (void)opaque;
    (void)address;
}

gh_inflate* gh_inflate_begin(void* memory)
{
    gh_arena arena = gh_arena_make(memory, GH_INFLATE_MEMORY);
    gh_inflate* inflate = (gh_inflate*)gh_arena_take(&arena, sizeof *inflate);
    if (inflate == NULL) return NULL;
    inflate->arena = arena;
    inflate->between = true;
    inflate->stream.zalloc = inflate_take;
    inflate->stream.zfree = inflate_give;
    inflate->stream.opaque = inflate;
    return inflateInit2(&inflate->stream, INFLATE_GZIP_WINDOW) == Z_OK ? inflate : NULL;
}

/* Zeros behind a member fill up a block of a tape; they are no member. */
static void inflate_skip_padding(gh_inflate* inflate, gh_str* in)
{
    while (in->size > 0 && in->bytes[0] == 0)
    {
        inflate->padding = true;
        in->bytes++;
        in->size--;
    }
}

gh_status gh_inflate_step(gh_inflate* self, gh_str* in, char* out, size_t capacity, size_t* made)
{
    z_stream* stream = &self->stream;
    uInt given;
    int result;
    *made = 0;
    if (self->between && self->begun) inflate_skip_padding(self, in);
    if (self->between && in->size == 0) return GH_OK;
    if (self->padding) return GH_CORRUPT;
    given = in->size > INFLATE_IN_MAX ? INFLATE_IN_MAX : (uInt)in->size;
    self->between = false;
    self->begun = true;
    stream->next_in = (Bytef*)(uintptr_t)in->bytes;
    stream->avail_in = given;
    stream->next_out = (Bytef*)out;
    stream->avail_out = (uInt)capacity;
    result = inflate(stream, Z_NO_FLUSH);
    *made = capacity - stream->avail_out;
    in->bytes += given - stream->avail_in;
    in->size -= given - stream->avail_in;
    if (result == Z_STREAM_END)
    {
        self->between = true;
        return inflateReset(stream) == Z_OK ? GH_OK : GH_CORRUPT;
    }
    return result == Z_OK || result == Z_BUF_ERROR ? GH_OK : GH_CORRUPT;
}

bool gh_inflate_may_end(const gh_inflate* inflate)
{
    return inflate->between && inflate->begun;
}

#else

bool gh_inflate_is_there(void)
{
    return false;
}

gh_inflate* gh_inflate_begin(void* memory)
{
    (void)memory;
    return NULL;
}

gh_status gh_inflate_step(gh_inflate* inflate, gh_str* in, char* out, size_t capacity, size_t* made)
{
    (void)inflate;
    (void)in;
    (void)out;
    (void)capacity;
    *made = 0;
    return GH_CORRUPT;
}

bool gh_inflate_may_end(const gh_inflate* inflate)
{
    (void)inflate;
    return false;
}

#endif
