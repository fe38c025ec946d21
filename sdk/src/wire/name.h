/* name.h -- names of players and things, as they stand in keys.

   Letters, digits, _ . and - stay; every other byte becomes %XX. So a name can hold any byte, two names never share a
   key, and neither ':' nor a brace of a name can move its key to another slot. */

#ifndef GH_NAME_H
#define GH_NAME_H

#include "guildhall/base.h"

/* True for 1..GH_NAME_SIZE_MAX bytes. */
static inline bool gh_name_is_valid(gh_str name)
{
    return name.bytes != NULL && name.size > 0 && name.size <= GH_NAME_SIZE_MAX;
}

/* The name must be valid; or empty, where there may be none. */
void gh_name_keep(gh_name* to, gh_str name);

size_t gh_name_encoded_size(gh_str name);

/* Writes gh_name_encoded_size(name) bytes and returns where they end. */
char* gh_name_encode(gh_str name, char* out);

/* The name that is written so: there is one way to write a name, and false says that this is none. */
bool gh_name_decode(gh_str encoded, gh_name* name);

/* Texts are put together in arrays of which each size is said in these: a bare number forgets a part, or a digit. */
#define GH_HEX_SIZE         16u
#define GH_DECIMAL_SIZE_MAX 20u /* of any 64 bits      */
#define GH_TOKEN_SIZE       33u /* see gh_token_encode */

/* value as GH_HEX_SIZE lower-case hex digits; returns where they end. */
char* gh_hex_encode(uint64_t value, char* out);

/* The value of exactly GH_HEX_SIZE hex digits; false if str is anything else. */
bool gh_hex_decode(gh_str str, uint64_t* value);

/* "<client>:<sequence>", both as 16 hex digits; returns where they end. And back: false if it is anything else. */
char* gh_token_encode(uint64_t client, uint64_t sequence, char* out);
bool gh_token_decode(gh_str token, uint64_t* client, uint64_t* sequence);

/* value in decimal, at most GH_DECIMAL_SIZE_MAX digits; returns where they end. */
char* gh_decimal_encode(uint64_t value, char* out);

/* The same in two steps, for a text with its size in front. */
size_t gh_decimal_size(uint64_t value);
char* gh_decimal_write(uint64_t value, size_t size, char* out);

/* True if every byte is a letter, a digit, or one of _ . - */
bool gh_name_is_plain(gh_str name);

#endif
