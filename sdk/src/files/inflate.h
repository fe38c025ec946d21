/* inflate.h -- the only door to zlib: gzip bytes in, plain bytes out, in fixed memory.

   Files of several members behind one another, as gzip -c a b > c makes them, are one stream of bytes; zeros
   behind the last member are ignored. Whoever builds without GH_WITH_ZLIB has these functions too, and
   gh_inflate_is_there says no. */

#ifndef GH_INFLATE_H
#define GH_INFLATE_H

#include "guildhall/base.h"

#define GH_INFLATE_MEMORY 49152u /* the state of inflate and its window of 32 KiB */

typedef struct gh_inflate gh_inflate;

bool gh_inflate_is_there(void);

/* In memory of GH_INFLATE_MEMORY bytes, aligned to 16. NULL: without zlib, or a zlib that needs more. */
gh_inflate* gh_inflate_begin(void* memory);

/* Takes from the front of *in, and writes at most capacity bytes. GH_OK; GH_CORRUPT: this is not gzip, or its
   check sum is wrong. Call again while *made is not 0 or *in is not empty. */
gh_status gh_inflate_step(gh_inflate* inflate, gh_str* in, char* out, size_t capacity, size_t* made);

/* True where a file may end: behind a whole member. */
bool gh_inflate_may_end(const gh_inflate* inflate);

#endif
