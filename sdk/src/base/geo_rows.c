/* geo_rows.c -- text to ranges: addresses, and rows of tables. */

#include "base/geo_table.h"

/* ---- addresses ---------------------------------------------------------------------------------------------------------- */

/* "a.b.c.d": each part within 0..255, without leading zeros (which some read as octal). */
static bool geo_parse_ipv4(gh_str text, uint64_t* number)
{
    uint64_t value = 0;
    size_t at = 0;
    int part;
    for (part = 0; part < 4; part++)
    {
        uint32_t byte = 0;
        size_t begin = at;
        while (at < text.size && at - begin < 4 && text.bytes[at] >= '0' && text.bytes[at] <= '9')
            byte = byte * 10 + (uint32_t)(text.bytes[at++] - '0');
        if (at == begin || byte > 255 || (at - begin > 1 && text.bytes[begin] == '0')) return false;
        value = value << 8 | byte;
        if (part < 3 && (at == text.size || text.bytes[at++] != '.')) return false;
    }
    *number = value;
    return at == text.size;
}

static int geo_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Groups of four hex digits, one "::" for a row of zeros, perhaps an IPv4 address at the end. */
typedef struct geo_groups
{
    uint16_t values[8];
    int count;
    int gap; /* where "::" stands; -1: nowhere */
} geo_groups;

static bool geo_take_group(geo_groups* groups, gh_str text, size_t* at)
{
    uint32_t value = 0;
    size_t begin = *at;
    uint64_t ipv4;
    while (*at < text.size && *at - begin < 5 && geo_hex_digit(text.bytes[*at]) >= 0)
        value = value << 4 | (uint32_t)geo_hex_digit(text.bytes[(*at)++]);
    if (*at < text.size && text.bytes[*at] == '.')
    {
        if (groups->count > 6 || !geo_parse_ipv4(gh_str_make(text.bytes + begin, text.size - begin), &ipv4)) return false;
        groups->values[groups->count++] = (uint16_t)(ipv4 >> 16);
        groups->values[groups->count++] = (uint16_t)(ipv4 & 0xffff);
        *at = text.size;
        return true;
    }
    if (*at == begin || *at - begin > 4 || groups->count == 8) return false;
    groups->values[groups->count++] = (uint16_t)value;
    return true;
}

static bool geo_take_groups(geo_groups* groups, gh_str text)
{
    size_t at = 0;
    if (text.size >= 2 && text.bytes[0] == ':' && text.bytes[1] == ':')
    {
        groups->gap = 0;
        at = 2;
    }
    while (at < text.size)
    {
        if (!geo_take_group(groups, text, &at)) return false;
        if (at == text.size) break;
        if (text.bytes[at++] != ':' || at == text.size) return false; /* no ':' alone at the end */
        if (text.bytes[at] != ':') continue;
        if (groups->gap >= 0) return false;
        groups->gap = groups->count;
        at++;
    }
    return groups->gap < 0 ? groups->count == 8 : groups->count < 8;
}

static bool geo_parse_ipv6(gh_str text, gh_geo_address* address)
{
    geo_groups groups = {{0}, 0, -1};
    uint16_t values[8] = {0};
    int i;
    if (!geo_take_groups(&groups, text)) return false;
    for (i = 0; i < groups.count; i++)
        values[groups.gap < 0 || i < groups.gap ? i : 8 - groups.count + i] = groups.values[i];
    address->high = address->low = 0;
    for (i = 0; i < 4; i++) address->high = address->high << 16 | values[i];
    for (i = 4; i < 8; i++) address->low = address->low << 16 | values[i];
    address->is_ipv6 = address->high != 0 || address->low >> 32 != 0xffff;
    if (!address->is_ipv6) address->low &= 0xffffffffu; /* ::ffff:a.b.c.d */
    return true;
}

gh_status gh_geo_parse(gh_str text, gh_geo_address* address)
{
    gh_geo_address parsed = {0, 0, false};
    if (address == NULL) return GH_INVALID_OUT;
    if (text.bytes == NULL) return GH_INVALID_ADDRESS;
    if (!geo_parse_ipv4(text, &parsed.low) && !geo_parse_ipv6(text, &parsed)) return GH_INVALID_ADDRESS;
    *address = parsed;
    return GH_OK;
}

/* In rows an IPv4 address may be a decimal number. */
static bool geo_parse_cell(gh_str text, gh_geo_address* address)
{
    uint64_t number = 0;
    size_t at;
    for (at = 0; at < text.size && at < 11 && text.bytes[at] >= '0' && text.bytes[at] <= '9'; at++)
        number = number * 10 + (uint64_t)(text.bytes[at] - '0');
    if (at == 0 || at < text.size) return gh_geo_parse(text, address) == GH_OK;
    address->high = 0;
    address->low = number;
    address->is_ipv6 = false;
    return number <= UINT32_MAX;
}

/* ---- rows --------------------------------------------------------------------------------------------------------------- */

#define GEO_FIELDS 5

typedef struct geo_row
{
    gh_str fields[GEO_FIELDS];
    char unquoted[GEO_FIELDS][GH_GEO_NAME_SIZE_MAX + 1];
} geo_row;

/* A field in quotes, from behind the first one; two inside mean one. False: it does not end, or is too long. */
static bool geo_take_quoted(gh_str line, size_t* at, char* out, gh_str* field)
{
    size_t size = 0;
    for (;; (*at)++)
    {
        if (*at == line.size || size > GH_GEO_NAME_SIZE_MAX) return false;
        if (line.bytes[*at] == '"')
        {
            (*at)++;
            if (*at == line.size || line.bytes[*at] != '"') break;
        }
        out[size++] = line.bytes[*at];
    }
    *field = gh_str_make(out, size);
    return *at == line.size || line.bytes[*at] == ',';
}

static bool geo_take_field(geo_row* row, int i, gh_str line, size_t* at)
{
    size_t begin = *at;
    const char* comma;
    if (begin < line.size && line.bytes[begin] == '"')
    {
        (*at)++;
        return geo_take_quoted(line, at, row->unquoted[i], &row->fields[i]);
    }
    comma = begin == line.size ? NULL : (const char*)memchr(line.bytes + begin, ',', line.size - begin);
    *at = comma == NULL ? line.size : (size_t)(comma - line.bytes);
    row->fields[i] = gh_str_make(line.bytes + begin, *at - begin);
    return row->fields[i].size <= GH_GEO_NAME_SIZE_MAX;
}

/* The two addresses and the country must be there. */
static bool geo_split(gh_str line, geo_row* row)
{
    size_t at = 0;
    int i;
    for (i = 0; i < GEO_FIELDS; i++)
    {
        row->fields[i] = gh_str_make("", 0);
        if (i > 0 && at == line.size) continue;
        if (i > 0) at++; /* the comma */
        if (!geo_take_field(row, i, line, &at)) return false;
        if (i < 2 && at == line.size) return false;
    }
    return true;
}

/* GH_OK, GH_FULL, or GH_INVALID_ADDRESS for whatever is wrong with it. */
static gh_status geo_add_row(gh_geo* table, gh_str line)
{
    geo_row row;
    gh_geo_address first;
    gh_geo_address last;
    if (!geo_split(line, &row) || !geo_parse_cell(row.fields[0], &first) || !geo_parse_cell(row.fields[1], &last))
        return GH_INVALID_ADDRESS;
    return geo_add_range(table, &first, &last, row.fields + 2);
}

static gh_status geo_take_line(gh_geo* table, gh_str line)
{
    gh_status status = GH_INVALID_ADDRESS;
    if (line.size > 0 && line.bytes[line.size - 1] == '\r') line.size--;
    if (line.size == 0 || line.bytes[0] == '#') return GH_OK;
    if (line.size <= GH_GEO_ROW_SIZE_MAX) status = geo_add_row(table, line);
    if (status == GH_FULL) return GH_FULL;
    table->rows++;
    if (status != GH_OK) table->rows_malformed++;
    return GH_OK;
}

gh_status gh_geo_add_rows(gh_geo* table, gh_str rows, size_t* used)
{
    size_t at = 0;
    if (!geo_is_building(table)) return GH_INVALID_MEMORY;
    if (rows.bytes == NULL && rows.size > 0) return GH_INVALID_BUFFER;
    if (used == NULL) return GH_INVALID_OUT;
    *used = 0;
    while (at < rows.size)
    {
        const char* end = (const char*)memchr(rows.bytes + at, '\n', rows.size - at);
        size_t size = end == NULL ? rows.size - at : (size_t)(end - rows.bytes) - at;
        if (end == NULL && size <= GH_GEO_ROW_SIZE_MAX && !table->skipping) break;
        if (end == NULL) /* longer than a row may be: its end will come with a later piece */
        {
            if (!table->skipping) table->rows++, table->rows_malformed++;
            table->skipping = true;
            *used = rows.size;
            break;
        }
        if (!table->skipping && geo_take_line(table, gh_str_make(rows.bytes + at, size)) == GH_FULL) return GH_FULL;
        table->skipping = false;
        at += size + 1;
        *used = at;
    }
    return GH_OK;
}
