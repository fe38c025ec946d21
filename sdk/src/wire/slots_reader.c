/* slots_reader.c -- RESP a byte at a time, with an eye on where in a row of CLUSTER SLOTS it is. */

#include "wire/slots_reader.h"

#define SLOTS_DIGITS_MAX 19u /* of an int64_t; they fit into a uint64_t */
#define SLOTS_KEY        "hostname"
#define SLOTS_KEY_SIZE   (sizeof SLOTS_KEY - 1)

/* What the next byte is. */
enum
{
    SLOTS_AT_TYPE = 0,
    SLOTS_AT_NUMBER,
    SLOTS_AT_NUMBER_LF,
    SLOTS_AT_TEXT,
    SLOTS_AT_TEXT_CR,
    SLOTS_AT_TEXT_LF,
    SLOTS_AT_END,     /* DONE   */
    SLOTS_AT_FAILURE, /* BROKEN */
    SLOTS_AT_ERROR    /* NO_MAP */
};

/* What a row must have. */
enum
{
    SLOTS_LACKS_FIRST = 1,
    SLOTS_LACKS_LAST = 2,
    SLOTS_LACKS_HOST = 4,
    SLOTS_LACKS_PORT = 8,
    SLOTS_LACKS_ALL = 15
};

/* What a string is. */
enum
{
    SLOTS_KEEP_NOTHING = 0,
    SLOTS_KEEP_HOST,
    SLOTS_KEEP_NAME,
    SLOTS_KEEP_KEY
};

/* Arrays that are open, within a row, within its node, and within what the node announces. */
enum
{
    SLOTS_IN_ANSWER = 1,
    SLOTS_IN_ROW = 2,
    SLOTS_IN_NODE = 3,
    SLOTS_IN_ANNOUNCED = 4
};

void gh_slots_reader_begin(gh_slots_reader* reader)
{
    memset(reader, 0, sizeof *reader);
}

gh_endpoint gh_slots_row_endpoint(const gh_slots_row* row)
{
    gh_endpoint made;
    made.kind = row->endpoint;
    made.host = gh_str_make(row->host, row->host_size);
    made.port = row->port;
    return made;
}

/* Of the master, which is the third element of a row. */
static bool slots_is_master(const gh_slots_reader* reader)
{
    return reader->at[SLOTS_IN_ROW] == 2;
}

static void slots_row_begin(gh_slots_reader* reader)
{
    gh_slots_row* row = &reader->row;
    row->is_good = false;
    row->host_size = row->name_size = 0;
    row->replicas = 0;
    reader->lacks = SLOTS_LACKS_ALL;
    reader->host_is_long = false;
}

static gh_slots_read slots_row_end(gh_slots_reader* reader)
{
    gh_slots_row* row = &reader->row;
    int64_t port = reader->host_is_long ? -1 : reader->port;
    gh_endpoint endpoint = gh_endpoint_make(gh_str_make(row->host, row->host_size), port);
    row->is_good = reader->lacks == 0 && row->first <= row->last;
    row->endpoint = endpoint.kind;
    row->port = endpoint.port;
    if (endpoint.kind != GH_ENDPOINT_GIVEN) row->host_size = 0;
    if (!gh_endpoint_host_is_good(gh_str_make(row->name, row->name_size))) row->name_size = 0;
    return GH_SLOTS_ROW;
}

/* A value is over, and so are the arrays of which it was the last. */
static gh_slots_read slots_value_end(gh_slots_reader* reader)
{
    gh_slots_read result = GH_SLOTS_MORE;
    reader->state = SLOTS_AT_TYPE;
    while (reader->depth > 0)
    {
        reader->at[reader->depth]++;
        if (--reader->left[reader->depth] > 0) return result;
        if (--reader->depth == SLOTS_IN_ANSWER) result = slots_row_end(reader);
    }
    reader->state = SLOTS_AT_END;
    return result == GH_SLOTS_ROW ? GH_SLOTS_ROW : GH_SLOTS_DONE;
}

/* -1: it is no slot. */
static int32_t slots_in_range(int64_t number, int32_t last)
{
    return number < 0 || number > last ? -1 : (int32_t)number;
}

static gh_slots_read slots_integer(gh_slots_reader* reader, int64_t number)
{
    int32_t slot = slots_in_range(number, (int32_t)GH_SLOTS - 1);
    reader->names = false;
    if (reader->depth == SLOTS_IN_ROW && reader->at[SLOTS_IN_ROW] < 2 && slot >= 0)
    {
        bool is_first = reader->at[SLOTS_IN_ROW] == 0;
        *(is_first ? &reader->row.first : &reader->row.last) = (uint16_t)slot;
        reader->lacks &= (uint8_t)~(is_first ? SLOTS_LACKS_FIRST : SLOTS_LACKS_LAST);
    }
    if (reader->depth == SLOTS_IN_NODE && slots_is_master(reader) && reader->at[SLOTS_IN_NODE] == 1)
    {
        reader->port = slots_in_range(number, UINT16_MAX);
        reader->lacks &= (uint8_t)~SLOTS_LACKS_PORT;
    }
    return slots_value_end(reader);
}

/* Which string begins here, by where it stands. */
static uint8_t slots_string_kind(gh_slots_reader* reader)
{
    if (!slots_is_master(reader)) return SLOTS_KEEP_NOTHING;
    if (reader->depth == SLOTS_IN_NODE && reader->at[SLOTS_IN_NODE] == 0) return SLOTS_KEEP_HOST;
    if (reader->depth != SLOTS_IN_ANNOUNCED || reader->at[SLOTS_IN_NODE] != 3) return SLOTS_KEEP_NOTHING;
    if (reader->at[SLOTS_IN_ANNOUNCED] % 2 == 0) return SLOTS_KEEP_KEY;
    return reader->names ? SLOTS_KEEP_NAME : SLOTS_KEEP_NOTHING;
}

/* Nil is one without bytes. */
static void slots_string_begin(gh_slots_reader* reader, uint64_t size)
{
    bool is_long = size > GH_ENDPOINT_HOST_MAX;
    reader->keep = slots_string_kind(reader);
    if (reader->keep == SLOTS_KEEP_HOST)
    {
        reader->lacks &= (uint8_t)~SLOTS_LACKS_HOST;
        reader->host_is_long = is_long;
    }
    if (reader->keep == SLOTS_KEEP_NAME)
    {
        reader->row.name_size = 0;
        reader->names = false;
    }
    if (reader->keep == SLOTS_KEEP_KEY)
    {
        reader->names = false;
        reader->matched = reader->compared = 0;
        is_long = size != SLOTS_KEY_SIZE;
    }
    if (is_long) reader->keep = SLOTS_KEEP_NOTHING;
}

/* Some bytes of the string, which is not longer than what it is kept in. */
static void slots_keep(gh_slots_reader* reader, const char* bytes, size_t size)
{
    gh_slots_row* row = &reader->row;
    size_t i;
    switch (reader->keep)
    {
    case SLOTS_KEEP_HOST:
        memcpy(row->host + row->host_size, bytes, size);
        row->host_size = (uint8_t)(row->host_size + size);
        break;
    case SLOTS_KEEP_NAME:
        memcpy(row->name + row->name_size, bytes, size);
        row->name_size = (uint8_t)(row->name_size + size);
        break;
    case SLOTS_KEEP_KEY:
        for (i = 0; i < size; i++)
            if (bytes[i] == SLOTS_KEY[reader->compared++]) reader->matched++;
        reader->names = reader->matched == SLOTS_KEY_SIZE;
        break;
    default: break;
    }
}

static size_t slots_text(gh_slots_reader* reader, const char* bytes, size_t size)
{
    if (size > reader->number) size = (size_t)reader->number;
    slots_keep(reader, bytes, size);
    reader->number -= size;
    if (reader->number == 0) reader->state = SLOTS_AT_TEXT_CR;
    return size;
}

static gh_slots_read slots_string(gh_slots_reader* reader, int64_t size)
{
    if (size < -1 || size > (int64_t)GH_SLOTS_STRING_MAX) return GH_SLOTS_BROKEN;
    slots_string_begin(reader, size < 0 ? 0 : (uint64_t)size);
    if (size < 0) return slots_value_end(reader);
    reader->number = (uint64_t)size;
    reader->state = size == 0 ? SLOTS_AT_TEXT_CR : SLOTS_AT_TEXT;
    return GH_SLOTS_MORE;
}

static gh_slots_read slots_array(gh_slots_reader* reader, int64_t count)
{
    if (count < -1 || count > (int64_t)GH_SLOTS) return GH_SLOTS_BROKEN;
    if (count < 0)
        return reader->depth < SLOTS_IN_ROW ? GH_SLOTS_BROKEN : slots_string(reader, -1); /* no string either */
    if (count >= 0 && reader->depth == GH_SLOTS_DEPTH_MAX) return GH_SLOTS_BROKEN;
    if (reader->depth == SLOTS_IN_ANSWER) slots_row_begin(reader);
    if (reader->depth == SLOTS_IN_ROW && reader->at[SLOTS_IN_ROW] > 2 && count > 0) reader->row.replicas++;
    reader->names = false;
    if (count > 0)
    {
        reader->depth++;
        reader->left[reader->depth] = (uint16_t)count;
        reader->at[reader->depth] = 0;
        reader->state = SLOTS_AT_TYPE;
        return GH_SLOTS_MORE;
    }
    if (reader->depth != SLOTS_IN_ANSWER) return slots_value_end(reader);
    (void)slots_row_end(reader); /* a row of nothing */
    (void)slots_value_end(reader);
    return GH_SLOTS_ROW;
}

static gh_slots_read slots_type(gh_slots_reader* reader, char type)
{
    if (type == '-' && reader->depth == 0) return GH_SLOTS_NO_MAP;
    if (type != '*' && (reader->depth < SLOTS_IN_ROW || (type != ':' && type != '$'))) return GH_SLOTS_BROKEN;
    reader->type = (uint8_t)type;
    reader->number = 0;
    reader->digits = 0;
    reader->negative = false;
    reader->state = SLOTS_AT_NUMBER;
    return GH_SLOTS_MORE;
}

/* As servers write it: no zero in front, no "-0", nothing over an int64_t. */
static gh_slots_read slots_digit(gh_slots_reader* reader, char c)
{
    if (c == '-' && reader->digits == 0 && !reader->negative)
    {
        reader->negative = true;
        return GH_SLOTS_MORE;
    }
    if (c == '\r' && reader->digits > 0)
    {
        reader->state = SLOTS_AT_NUMBER_LF;
        return GH_SLOTS_MORE;
    }
    if (c < '0' || c > '9' || reader->digits == SLOTS_DIGITS_MAX) return GH_SLOTS_BROKEN;
    if (reader->digits > 0 && reader->number == 0) return GH_SLOTS_BROKEN;
    if (reader->digits == 0 && reader->negative && c == '0') return GH_SLOTS_BROKEN;
    reader->number = reader->number * 10 + (uint64_t)(c - '0');
    reader->digits++;
    return reader->number > (uint64_t)INT64_MAX + reader->negative ? GH_SLOTS_BROKEN : GH_SLOTS_MORE;
}

static gh_slots_read slots_line_end(gh_slots_reader* reader)
{
    int64_t number = reader->negative ? -(int64_t)(reader->number - 1) - 1 : (int64_t)reader->number;
    switch (reader->type)
    {
    case ':': return slots_integer(reader, number);
    case '$': return slots_string(reader, number);
    default: return slots_array(reader, number);
    }
}

static gh_slots_read slots_byte(gh_slots_reader* reader, char c)
{
    switch (reader->state)
    {
    case SLOTS_AT_TYPE: return slots_type(reader, c);
    case SLOTS_AT_NUMBER: return slots_digit(reader, c);
    case SLOTS_AT_NUMBER_LF: return c == '\n' ? slots_line_end(reader) : GH_SLOTS_BROKEN;
    case SLOTS_AT_TEXT_CR: reader->state = SLOTS_AT_TEXT_LF; return c == '\r' ? GH_SLOTS_MORE : GH_SLOTS_BROKEN;
    default: return c == '\n' ? slots_value_end(reader) : GH_SLOTS_BROKEN; /* SLOTS_AT_TEXT_LF */
    }
}

gh_slots_read gh_slots_reader_next(gh_slots_reader* reader, const char* bytes, size_t size, size_t* used)
{
    gh_slots_read result = GH_SLOTS_MORE;
    const size_t room = GH_SLOTS_BYTES_MAX - reader->bytes;
    const size_t end = size < room ? size : room;
    size_t i = 0;
    *used = 0;
    if (reader->state == SLOTS_AT_END) return GH_SLOTS_DONE;
    if (reader->state == SLOTS_AT_FAILURE) return GH_SLOTS_BROKEN;
    if (reader->state == SLOTS_AT_ERROR) return GH_SLOTS_NO_MAP;
    while (i < end && result == GH_SLOTS_MORE)
    {
        if (reader->state == SLOTS_AT_TEXT) i += slots_text(reader, bytes + i, end - i);
        else result = slots_byte(reader, bytes[i++]);
    }
    if (result == GH_SLOTS_MORE && i < size) result = GH_SLOTS_BROKEN;
    if (result == GH_SLOTS_BROKEN) reader->state = SLOTS_AT_FAILURE;
    if (result == GH_SLOTS_NO_MAP)
    {
        reader->state = SLOTS_AT_ERROR;
        return result;
    }
    reader->bytes += (uint32_t)i;
    *used = i;
    return result;
}
