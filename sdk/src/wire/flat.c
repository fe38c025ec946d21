/* flat.c -- replies of one value, or of one row of values, read straight from the bytes. */

#include "wire/flat.h"

#include "wire/number.h"

#define FLAT_SHORT_MAX 16 /* elements of an array that is read anyway */

typedef struct flat_cursor
{
    const char* at;
    const char* end;
} flat_cursor;

gh_reply* gh_values_add(gh_values* values, gh_reply_type type)
{
    gh_reply* value;
    if (values->node_count == values->node_capacity) return NULL;
    value = &values->nodes[values->node_count++];
    memset(value, 0, sizeof *value);
    value->type = type;
    return value;
}

bool gh_values_text(gh_values* values, gh_reply* value, const char* bytes, size_t size)
{
    if (size >= values->text_capacity - values->text_used) return false;
    value->text = gh_str_make(bytes, size);
    values->text_used += (uint32_t)size + 1;
    return true;
}

static bool flat_line_end(flat_cursor* cursor)
{
    if (cursor->end - cursor->at < 2 || cursor->at[0] != '\r' || cursor->at[1] != '\n') return false;
    cursor->at += 2;
    return true;
}

static bool flat_number(flat_cursor* cursor, int64_t* number)
{
    const char* end = gh_number_read(cursor->at, cursor->end, number);
    if (end != NULL) cursor->at = end;
    return end != NULL;
}

static bool flat_minus(flat_cursor* cursor)
{
    if (cursor->at == cursor->end || *cursor->at != '-') return false;
    cursor->at++;
    return true;
}

static bool flat_integer(flat_cursor* cursor, gh_reply* value)
{
    bool negative = flat_minus(cursor);
    if (!flat_number(cursor, &value->integer)) return false;
    if (!negative) return true;
    value->integer = -value->integer;
    return value->integer != 0;
}

/* "-1\r\n", for a string or an array that is not there; the minus sign was read. */
static bool flat_nil(flat_cursor* cursor, gh_reply* value)
{
    int64_t size;
    value->type = GH_REPLY_NIL;
    return flat_number(cursor, &size) && size == 1;
}

/* "<size>\r\n<bytes>\r\n" */
static bool flat_string(gh_values* values, flat_cursor* cursor, gh_reply* value)
{
    int64_t size;
    if (flat_minus(cursor)) return flat_nil(cursor, value);
    if (!flat_number(cursor, &size) || size > cursor->end - cursor->at) return false;
    if (!gh_values_text(values, value, cursor->at, (size_t)size)) return false;
    cursor->at += size;
    return flat_line_end(cursor);
}

/* "OK\r\n" */
static bool flat_line(gh_values* values, flat_cursor* cursor, gh_reply* value)
{
    const char* first = cursor->at;
    const char* end = memchr(first, '\r', (size_t)(cursor->end - first));
    if (end == NULL || memchr(first, '\n', (size_t)(end - first)) != NULL) return false;
    if (!gh_values_text(values, value, first, (size_t)(end - first))) return false;
    cursor->at = end;
    return flat_line_end(cursor);
}

static bool flat_value(gh_values* values, flat_cursor* cursor, gh_reply* value)
{
    switch (cursor->at < cursor->end ? *cursor->at++ : 0)
    {
    case ':': value->type = GH_REPLY_INTEGER; return flat_integer(cursor, value);
    case '$': value->type = GH_REPLY_STRING; return flat_string(values, cursor, value);
    case '+': value->type = GH_REPLY_STATUS; return flat_line(values, cursor, value);
    case '-': value->type = GH_REPLY_ERROR; return flat_line(values, cursor, value);
    default: return false;
    }
}

/* "<count>\r\n" */
static bool flat_array(const gh_values* values, flat_cursor* cursor, gh_reply* array)
{
    int64_t count;
    if (flat_minus(cursor)) return flat_nil(cursor, array);
    if (!flat_number(cursor, &count) || count >= values->node_capacity) return false;
    array->count = (uint32_t)count;
    /* Most likely it is cut: it would be read twice. */
    return count <= FLAT_SHORT_MAX || cursor->end[-1] == '\n';
}

/* So many values, each linked to the one before it. */
static bool flat_row(gh_values* values, flat_cursor* cursor, uint32_t count, const gh_reply** link)
{
    for (; count > 0; count--)
    {
        gh_reply* value = gh_values_add(values, GH_REPLY_NIL);
        if (value == NULL || !flat_value(values, cursor, value)) return false;
        *link = value;
        link = &value->next;
    }
    return true;
}

size_t gh_flat_read(gh_values* values, const char* bytes, size_t size)
{
    flat_cursor cursor = {bytes, bytes + size};
    const gh_reply* root = NULL;
    const gh_reply** link = &root;
    uint32_t count = 1;
    values->node_count = 0;
    values->text_used = 0;
    if (size > 0 && *bytes == '*')
    {
        gh_reply* array = gh_values_add(values, GH_REPLY_ARRAY);
        cursor.at++;
        if (array == NULL || !flat_array(values, &cursor, array)) return 0;
        link = &array->first;
        count = array->count;
    }
    return flat_row(values, &cursor, count, link) ? (size_t)(cursor.at - bytes) : 0;
}
