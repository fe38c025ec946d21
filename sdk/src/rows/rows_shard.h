/* rows_shard.h -- where a row lives: one of GH_ROWS_SHARDS objects, named by their numbers. */

#ifndef GH_ROWS_SHARD_H
#define GH_ROWS_SHARD_H

#include "base/hash.h"
#include "client/op.h"
#include "guildhall/rows.h"
#include "wire/name.h"

static inline uint8_t gh_rows_shard_of(gh_str row)
{
    return (uint8_t)gh_hash_shard(row.bytes, row.size, GH_ROWS_SHARDS);
}

/* gh_request_object_script: its keys are "<prefix>:{rows:<shard>}:<part>". */
void gh_rows_encode_script(gh_request* request, gh_op* op, uint8_t shard, const char* parts);

/* The letter behind a hint that says which shard has something to do. */
static inline void gh_rows_encode_letter(gh_request* request, uint8_t shard)
{
    char letter = (char)('0' + shard);
    gh_request_str(request, gh_str_make(&letter, 1));
}

#endif
