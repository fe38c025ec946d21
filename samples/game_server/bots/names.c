/* names.c -- what a completion of names must look like. */

#include "names.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool begins_with(gh_str name, gh_str prefix)
{
    if (name.size < prefix.size) return false;
    for (size_t i = 0; i < prefix.size; i++)
        if (lower(name.bytes[i]) != lower(prefix.bytes[i])) return false;
    return true;
}

/* Takes the first line off; false if there is none. */
static bool next_line(gh_str* rest, gh_str* line)
{
    if (rest->size == 0) return false;
    const char* end = memchr(rest->bytes, '\n', rest->size);
    size_t size = end == NULL ? rest->size : (size_t)(end - rest->bytes);
    *line = gh_str_make(rest->bytes, size);
    size_t taken = end == NULL ? size : size + 1;
    *rest = gh_str_make(rest->bytes + taken, rest->size - taken);
    return true;
}

static bool contains(gh_str rest, gh_str wanted)
{
    gh_str line;
    while (next_line(&rest, &line))
        if (gh_str_equal(line, wanted)) return true;
    return false;
}

bool names_are_right(gh_str prefix, gh_str names, int64_t count, gh_str wanted)
{
    int64_t lines = 0;
    gh_str rest = names;
    gh_str line;
    while (next_line(&rest, &line))
    {
        if (line.size == 0 || !begins_with(line, prefix) || contains(rest, line)) return false;
        lines++;
    }
    return lines == count && (wanted.size == 0 || contains(names, wanted));
}
