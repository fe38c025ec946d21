/* flat.c -- replies of one value, or of one row of values, read straight from the bytes. */

#include "wire/flat.h"

#include "wire/number.h"
#include "wire/scan.h"

#define FLAT_SHORT_MAX 16 /* elements of an array that is read anyway */

typedef struct flat_cursor
{
    const char* at;
    const char* end;
    bool is_good; /* scan.h has seen that all of it is */
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

/* A good number of 19 digits. */
static const char* flat_long_number(const char* at, uint64_t* number)
{
    for (*number = 0; *at != '\r'; at++) *number = *number * 10 + (uint64_t)(*at - '0');
    return at + 2;
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
    const bool negative = flat_minus(cursor);
    uint64_t number;
    if (flat_number(cursor, &value->integer))
    {
        if (!negative) return true;
        value->integer = -value->integer;
        return value->integer != 0;
    }
    if (!cursor->is_good) return false;
    cursor->at = flat_long_number(cursor->at, &number);
    value->integer = negative ? -(int64_t)(number - 1) - 1 : (int64_t)number;
    return true;
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

/* An array that is an element: without what is in it. */
static bool flat_inner(flat_cursor* cursor, gh_reply* value)
{
    gh_scan scan;
    if (!cursor->is_good) return false;
    value->type = *cursor->at == '-' ? GH_REPLY_NIL : GH_REPLY_ARRAY;
    gh_scan_begin(&scan, UINT32_MAX, UINT32_MAX);
    gh_scan_on(&scan, cursor->at - 1, (size_t)(cursor->end - cursor->at) + 1);
    cursor->at += scan.at - 1;
    return true;
}

static bool flat_value(gh_values* values, flat_cursor* cursor, gh_reply* value)
{
    switch (cursor->at < cursor->end ? *cursor->at++ : 0)
    {
    case ':': value->type = GH_REPLY_INTEGER; return flat_integer(cursor, value);
    case '$': value->type = GH_REPLY_STRING; return flat_string(values, cursor, value);
    case '+': value->type = GH_REPLY_STATUS; return flat_line(values, cursor, value);
    case '-': value->type = GH_REPLY_ERROR; return flat_line(values, cursor, value);
    case '*': return flat_inner(cursor, value);
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

static size_t flat_reply(gh_values* values, const char* bytes, size_t size, bool is_good)
{
    flat_cursor cursor = {bytes, bytes + size, is_good};
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

size_t gh_flat_read(gh_values* values, const char* bytes, size_t size)
{
    return flat_reply(values, bytes, size, false);
}

const gh_reply* gh_flat_read_good(gh_values* values, const char* bytes, size_t size)
{
    return flat_reply(values, bytes, size, true) == size ? values->nodes : NULL;
}
