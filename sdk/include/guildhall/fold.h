/* guildhall/fold.h -- which names count as alike when a player types the beginning of one: for contacts.h, guild.h.

   A name is kept as it is shown ("Jörg"), and beside it in its folded form ("jörg"); what is typed is folded too
   and compared with that. A fold works character by character, so that the fold of a beginning is the beginning of
   the fold. A beginning that ends inside a character counts as it is, byte by byte. */

#ifndef GUILDHALL_FOLD_H
#define GUILDHALL_FOLD_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_FOLDED_SIZE_MAX 96 /* bytes: some letters grow from two bytes to three when they are folded */

/* Writes the folded form of text, which has at most GH_NAME_SIZE_MAX bytes of any kind, to out, which has room for
   GH_FOLDED_SIZE_MAX, and returns its size. Must give the same for the same text always, on every server of the
   fleet: a guild keeps the folded form. A size beyond the room: the text counts as it is. */
typedef size_t (*gh_fold)(void* context, gh_str text, char* out);

/* A..Z to a..z, all else as it is. */
GH_API size_t gh_fold_ascii(void* context, gh_str text, char* out);

/* The simple case folding of Unicode 14, a character for a character, for all scripts that have cases: "ÄRGER" is
   "ärger", but "ß" is not "ss". What is not UTF-8 stays as it is. */
GH_API size_t gh_fold_utf8(void* context, gh_str text, char* out);

/* What the systems call: the hook, or the text as it is if there is none or it wants more than the room. */
GH_API size_t gh_fold_apply(gh_fold fold, void* context, gh_str text, char* out);

#ifdef __cplusplus
}
#endif

#endif
