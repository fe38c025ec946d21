/* flat.c -- replies of one value, or of one row of values, read straight from the bytes. */

#include "wire/flat.h"

#define FLAT_DIGITS_MAX 18 /* so many always fit into an int64_t       */
#define FLAT_SHORT_MAX 16  /* elements of an array that is read anyway */

typedef struct flat_cursor
{
    const char* at;
    const char* end;
} flat_cursor;

bool gh_values_keep(gh_values* values, gh_reply* value, const char* bytes, size_t size)
{
    char* place = values->text + values->text_used;
    if (size >= values->text_capacity - values->text_used) return false;
    memcpy(place, bytes, size);
    place[size] = 0;
    value->text = gh_str_make(place, size);
    values->text_used += (uint32_t)size + 1;
    return true;
}

static bool flat_line_end(flat_cursor* cursor)
{
    if (cursor->end - cursor->at < 2 || cursor->at[0] != '\r' || cursor->at[1] != '\n') return false;
    cursor->at += 2;
    return true;
}

/* "<digits>\r\n", in the one way in which servers write it: no sign, no zero in front. */
static bool flat_number(flat_cursor* cursor, int64_t* number)
{
    const char* first = cursor->at;
    const char* end = cursor->end - first > FLAT_DIGITS_MAX ? first + FLAT_DIGITS_MAX : cursor->end;
    const char* at = first;
    uint64_t value = 0;
    for (; at < end; at++)
    {
        unsigned digit = (unsigned)*at - '0';
        if (digit > 9) break;
        value = value * 10 + digit;
    }
    if (at == first || (*first == '0' && at - first > 1)) return false;
    cursor->at = at;
    *number = (int64_t)value;
    return flat_line_end(cursor);
}

static gh_reply* flat_add(gh_values* values, gh_reply_type type)
{
    gh_reply* value = &values->nodes[values->node_count++].reply;
    memset(value, 0, sizeof *value);
    value->type = type;
    return value;
}

/* "<size>\r\n<bytes>\r\n" */
static bool flat_string(gh_values* values, flat_cursor* cursor)
{
    int64_t size;
    if (!flat_number(cursor, &size) || size > cursor->end - cursor->at) return false;
    if (!gh_values_keep(values, flat_add(values, GH_REPLY_STRING), cursor->at, (size_t)size)) return false;
    cursor->at += size;
    return flat_line_end(cursor);
}

/* "OK\r\n" */
static bool flat_status(gh_values* values, flat_cursor* cursor)
{
    const char* first = cursor->at;
    const char* end = memchr(first, '\r', (size_t)(cursor->end - first));
    if (end == NULL || memchr(first, '\n', (size_t)(end - first)) != NULL) return false; /* hiredis 1.x breaks there */
    if (!gh_values_keep(values, flat_add(values, GH_REPLY_STATUS), first, (size_t)(end - first)))
        return false;
    cursor->at = end;
    return flat_line_end(cursor);
}

static bool flat_integer(gh_values* values, flat_cursor* cursor)
{
    return flat_number(cursor, &flat_add(values, GH_REPLY_INTEGER)->integer);
}

static bool flat_array(gh_values* values, flat_cursor* cursor)
{
    gh_reply* array = flat_add(values, GH_REPLY_ARRAY);
    const gh_reply** link = &array->first;
    int64_t count;
    if (!flat_number(cursor, &count) || count >= values->node_capacity) return false;
    /* Most likely it is cut: it would be read twice. */
    if (count > FLAT_SHORT_MAX && cursor->end[-1] != '\n') return false;
    for (array->count = (uint32_t)count; count > 0; count--)
    {
        gh_reply* element = &values->nodes[values->node_count].reply;
        char sign = cursor->at < cursor->end ? *cursor->at++ : 0;
        bool taken = sign == ':' ? flat_integer(values, cursor) : sign == '$' && flat_string(values, cursor);
        if (!taken) return false;
        *link = element;
        link = &element->next;
    }
    return true;
}

size_t gh_flat_read(gh_values* values, const char* bytes, size_t size)
{
    flat_cursor cursor;
    bool taken = false;
    if (size == 0 || values->node_capacity == 0) return 0;
    cursor.at = bytes + 1;
    cursor.end = bytes + size;
    values->node_count = 0;
    values->text_used = 0;
    switch (*bytes)
    {
    case ':': taken = flat_integer(values, &cursor); break;
    case '$': taken = flat_string(values, &cursor); break;
    case '+': taken = flat_status(values, &cursor); break;
    case '*': taken = flat_array(values, &cursor); break;
    default: break;
    }
    return taken ? (size_t)(cursor.at - bytes) : 0;
}
