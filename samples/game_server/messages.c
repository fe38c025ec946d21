/* messages.c -- messages as bytes: type, number, values, then name and text with their sizes before them. All
   numbers are little-endian, whatever the machine. */

#include "messages.h"

#include <stdio.h>

/* ---- Writing ------------------------------------------------------------------------------------------- */

static unsigned char* put(unsigned char* at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) *at++ = (unsigned char)(value >> (8 * i));
    return at;
}

static unsigned char* put_bytes(unsigned char* at, gh_str bytes)
{
    if (bytes.size > 0) memcpy(at, bytes.bytes, bytes.size);
    return at + bytes.size;
}

size_t message_write(const message* m, unsigned char out[MESSAGE_SIZE_MAX])
{
    if (m->name.size > MESSAGE_NAME_MAX || m->text.size > MESSAGE_TEXT_MAX) return 0;
    unsigned char* at = put(out, m->type, 1);
    at = put(at, m->number, 4);
    for (int i = 0; i < MESSAGE_VALUES; i++) at = put(at, (uint64_t)m->values[i], 8);
    at = put_bytes(put(at, m->name.size, 1), m->name);
    at = put_bytes(put(at, m->text.size, 2), m->text);
    return (size_t)(at - out);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

typedef struct message_reader
{
    const unsigned char* at;
    size_t left;
    bool failed; /* there was less than was asked for; all that follows is zeros */
} message_reader;

static uint64_t take(message_reader* r, unsigned bytes)
{
    if (r->failed || r->left < bytes)
    {
        r->failed = true;
        return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)r->at[i] << (8 * i);
    r->at += bytes;
    r->left -= bytes;
    return value;
}

static gh_str take_bytes(message_reader* r, size_t size, size_t size_max)
{
    if (r->failed || size > size_max || r->left < size)
    {
        r->failed = true;
        return gh_str_make(NULL, 0);
    }
    gh_str bytes = gh_str_make((const char*)r->at, size);
    r->at += size;
    r->left -= size;
    return bytes;
}

static bool is_type(uint64_t type)
{
    return (type >= MESSAGE_ENTER && type <= MESSAGE_LOOK) || (type >= MESSAGE_QUEUED && type <= MESSAGE_SORRY);
}

bool message_read(message* m, const void* bytes, size_t size)
{
    message_reader r = {bytes, size, false};
    uint64_t type = take(&r, 1);
    m->type = (message_type)type;
    m->number = (uint32_t)take(&r, 4);
    for (int i = 0; i < MESSAGE_VALUES; i++) m->values[i] = (int64_t)take(&r, 8);
    m->name = take_bytes(&r, (size_t)take(&r, 1), MESSAGE_NAME_MAX);
    m->text = take_bytes(&r, (size_t)take(&r, 2), MESSAGE_TEXT_MAX);
    return !r.failed && r.left == 0 && is_type(type);
}

/* ---- Names --------------------------------------------------------------------------------------------- */

gh_str player_name(uint32_t number, char out[PLAYER_NAME_SIZE])
{
    static const char* const firsts[] = {"Runa", "Rune",  "Rudolf", "Ada",   "Adam", "Adele", "Bea",  "Bert",
                                         "Cora", "Conan", "Dora",   "Doran", "Edda", "Egil",  "Frey", "Freya",
                                         "Gerd", "Gero",  "Hanna",  "Hanno", "Ida",  "Ines",  "Jana", "Jarl",
                                         "Kara", "Karl",  "Lara",   "Lars",  "Maja", "Malte", "Nora", "Noah"};
    uint32_t mixed = number * UINT32_C(2654435761) >> 27; /* neighbours should not have neighbouring names */
    int size = snprintf(out, PLAYER_NAME_SIZE, "%s%04u", firsts[mixed % (sizeof(firsts) / sizeof(firsts[0]))], number);
    return gh_str_make(out, (size_t)size);
}
