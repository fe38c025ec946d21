/* script_text.h -- the texts of the library's own scripts, sdk/src/<system>/<name>.lua, as the build packs them.

   gh_<name>_lua is the text of a script. Those of a system are an object of their own, build/generated/scripts/
   <system>_scripts.c, so that a program has the scripts of the systems that it uses, and no others.

   A packed text is a row of codes. A code below 128 is that byte; any other stands for two codes, and each of them for
   two again, or for a byte. So "local " may be one code, for those of "loca" and "l ". Codes below 255 are a byte each;
   a larger one is the byte 255 and a byte that says by how much. The pairs are the same for all texts.

   With GH_READABLE_SCRIPTS, as in a debug build, nothing is packed: then a text is bytes below 128 alone. */

#ifndef GH_SCRIPT_TEXT_H
#define GH_SCRIPT_TEXT_H

#include "gh_scripts.h"

#include <stdint.h>

/* Its place among those of a client, which keeps the digest. */
typedef enum gh_script_id
{
#define GH_SCRIPT_ENUM(name) GH_SCRIPT_##name,
    GH_SCRIPT_LIST(GH_SCRIPT_ENUM)
#undef GH_SCRIPT_ENUM
        GH_SCRIPT_COUNT
} gh_script_id;

typedef struct gh_script_text
{
    const char* packed;
    uint32_t packed_size;
    uint32_t size; /* of the text that it is */
    gh_script_id id;
    uint64_t commands; /* which of GH_COMMAND_LIST it calls: a bit for each */
} gh_script_text;

#define GH_SCRIPT_DECLARE(name) extern const gh_script_text gh_##name##_lua;
GH_SCRIPT_LIST(GH_SCRIPT_DECLARE)
#undef GH_SCRIPT_DECLARE

/* The halves of the codes from 128 on. */
extern const uint16_t gh_script_pairs[GH_SCRIPT_PAIRS][2];

/* Writes the text, `size` bytes, and returns its end. */
char* gh_script_unpack(const gh_script_text* text, char* out);

#endif
