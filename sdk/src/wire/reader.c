/* reader.c -- the values that replies become. */

#include "wire/reader.h"

bool gh_reader_take(gh_reader* reader, gh_arena* arena, uint32_t nodes)
{
    reader->values.nodes = (gh_reply*)gh_arena_take_as_is(arena, sizeof(gh_reply) * nodes);
    return reader->values.nodes != NULL;
}

gh_values* gh_reader_values(gh_reader* reader, uint32_t text, uint32_t nodes)
{
    reader->values.node_capacity = nodes;
    reader->values.text_capacity = text;
    return &reader->values;
}
