/* script_text.h -- the texts of the library's own scripts, sdk/src/<system>/<name>.lua, as the build packs them.

   gh_<name>_lua is the text of a script. Those of a system are an object of their own, build/generated/scripts/
   <system>_scripts.c, so that a program has the scripts of the systems that it uses, and no others.

   The packed texts of a system are one string of bits, the lowest bit of a byte first. Its words are numbers: three
   bits say of which kind, and GH_SCRIPT_WIDTHS how many bits numbers of that kind have behind them. Those of the first
   kind are 0 and what comes behind it, those of the next kind go on from there, and so on.

   A number above 0 is a code, less 1. A code stands for two others, each of which stands for two again, or for a byte.
   So "local " may be one code, for those of "loca" and "l ". What the codes stand for is the same in all systems.

   0 says that what comes here stands elsewhere in the string, too: `place_bits` bits have the bit where that begins,
   and a number behind them, and 1 more, of how many codes and places it is. So what two scripts of a system share is
   there once.

   With GH_READABLE_SCRIPTS, as in a debug build, nothing is packed. */

#ifndef GH_SCRIPT_TEXT_H
#define GH_SCRIPT_TEXT_H

#include "gh_scripts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its place among those of a client, which keeps the digest. */
typedef enum gh_script_id
{
#define GH_SCRIPT_ENUM(name) GH_SCRIPT_##name,
    GH_SCRIPT_LIST(GH_SCRIPT_ENUM)
#undef GH_SCRIPT_ENUM
        GH_SCRIPT_COUNT
} gh_script_id;

/* How many keys or arguments a script takes: so many at least, so many that may be left out, and behind them any
   number, by `each` at once, if that is not 0. */
typedef struct gh_script_items
{
    uint8_t least;
    uint8_t more;
    uint8_t each;
} gh_script_items;

/* What its head comment says is what sdk/premake/heads.lua reads; <system>_scripts.h has names for the rest of that. */
typedef struct gh_script_text
{
    const char* packed; /* all of its system's */
    const char* shape;  /* of its reply, one letter an element: "q" the op's sequence, "i" an integer of at least 0,
                           "n" one that is the store's time, "s" a string, "*" anything from here on; "t" in front:
                           all in one text, see wire/columns.h. NULL: any reply at all */
    uint64_t commands;  /* which of GH_COMMAND_LIST it calls: a bit for each */
    uint16_t at;        /* the byte in which it begins */
    uint16_t count;     /* of its codes and places     */
    uint16_t size;      /* of the text that it is      */
    uint8_t id;         /* its gh_script_id            */
    uint8_t place_bits; /* 0: nothing is packed        */
    gh_script_items keys;
    gh_script_items arguments;
    bool goes_on; /* while its slot moves to another node it runs to its end, as it touches no key that it removed */
} gh_script_text;

#define GH_SCRIPT_DECLARE(name) extern const gh_script_text gh_##name##_lua;
GH_SCRIPT_LIST(GH_SCRIPT_DECLARE)
#undef GH_SCRIPT_DECLARE

/* Of each code 12 bits of the one that it begins with, and 12 of the other; GH_SCRIPT_BYTE: it is a byte, the first. */
#define GH_SCRIPT_BYTE 4095u
extern const unsigned char gh_script_codes[GH_SCRIPT_CODES][3];

/* Writes the text, `size` bytes, and returns its end. */
char* gh_script_unpack(const gh_script_text* text, char* out);

#endif
