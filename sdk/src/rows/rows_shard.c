/* rows_shard.c -- a script on one of the objects that rows live in. */

#include "rows_shard.h"

void gh_rows_encode_script(gh_request* request, gh_op* op, uint8_t shard, const char* parts)
{
    char text[GH_DECIMAL_SIZE_MAX];
    char* end = gh_decimal_encode(shard, text);
    gh_request_object_script(request, op, gh_str_literal("rows"), gh_str_make(text, (size_t)(end - text)), parts);
}
