/* geo_rows.c -- rows of tables to ranges. */

#include "geo/geo_table.h"

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

/* ---- rows -------------------------------------------------------------------------------------------------------- */

#define GEO_FIELDS  5          /* as gh_geo_columns names them */
#define GEO_NOWHERE GEO_FIELDS /* a column that nobody wants    */

typedef struct geo_row
{
    gh_str fields[GEO_FIELDS];
    char unquoted[GEO_FIELDS][GH_GEO_NAME_SIZE_MAX + 1];
} geo_row;

/* A field in quotes, from behind the first one; two inside mean one. False: it does not end, or is too long. */
static bool geo_take_quoted(gh_str line, size_t* at, geo_row* row, uint32_t field)
{
    size_t size = 0;
    for (;; (*at)++)
    {
        if (*at == line.size || (field != GEO_NOWHERE && size > GH_GEO_NAME_SIZE_MAX)) return false;
        if (line.bytes[*at] == '"')
        {
            (*at)++;
            if (*at == line.size || line.bytes[*at] != '"') break;
        }
        if (field != GEO_NOWHERE) row->unquoted[field][size++] = line.bytes[*at];
    }
    if (field != GEO_NOWHERE) row->fields[field] = gh_str_make(row->unquoted[field], size);
    return *at == line.size || line.bytes[*at] == ',';
}

static bool geo_take_field(geo_row* row, uint32_t field, gh_str line, size_t* at)
{
    size_t begin = *at;
    const char* comma;
    if (begin < line.size && line.bytes[begin] == '"')
    {
        (*at)++;
        return geo_take_quoted(line, at, row, field);
    }
    comma = begin == line.size ? NULL : (const char*)memchr(line.bytes + begin, ',', line.size - begin);
    *at = comma == NULL ? line.size : (size_t)(comma - line.bytes);
    if (field == GEO_NOWHERE) return true;
    row->fields[field] = gh_str_make(line.bytes + begin, *at - begin);
    return row->fields[field].size <= GH_GEO_NAME_SIZE_MAX;
}

/* Which field of ours a column of the row is. */
static uint32_t geo_field_of(const gh_geo* table, uint32_t column)
{
    uint32_t field = 0;
    while (field < GEO_FIELDS && table->columns[field] != column) field++;
    return field;
}

/* The two addresses and the country must be there. */
static bool geo_split(const gh_geo* table, gh_str line, geo_row* row)
{
    size_t at = 0;
    uint32_t seen = 0;
    uint32_t column;
    uint32_t i;
    for (i = 0; i < GEO_FIELDS; i++) row->fields[i] = gh_str_make("", 0);
    for (column = 0; column <= table->column_last; column++)
    {
        uint32_t field = geo_field_of(table, column);
        if (column > 0 && at == line.size) break;
        if (column > 0) at++; /* the comma */
        if (!geo_take_field(row, field, line, &at)) return false;
        seen |= 1u << field;
    }
    return (seen & 7u) == 7u;
}

/* GH_OK, GH_FULL_..., or GH_INVALID_ADDRESS for whatever is wrong with it. */
static gh_status geo_add_row(gh_geo* table, gh_str line)
{
    geo_row row;
    gh_geo_address first;
    gh_geo_address last;
    if (!geo_split(table, line, &row) || !geo_parse_cell(row.fields[0], &first) ||
        !geo_parse_cell(row.fields[1], &last))
        return GH_INVALID_ADDRESS;
    return gh_geo_add_range(table, &first, &last, row.fields + 2);
}

static gh_status geo_take_line(gh_geo* table, gh_str line)
{
    gh_status status = GH_INVALID_ADDRESS;
    if (line.size > 0 && line.bytes[line.size - 1] == '\r') line.size--;
    if (line.size == 0 || line.bytes[0] == '#') return GH_OK;
    if (line.size <= GH_GEO_ROW_SIZE_MAX) status = geo_add_row(table, line);
    if (status != GH_OK && status != GH_INVALID_ADDRESS) return status;
    table->rows++;
    if (status != GH_OK) table->rows_malformed++;
    return GH_OK;
}

gh_status gh_geo_add_rows(gh_geo* table, gh_str rows, size_t* used)
{
    size_t at = 0;
    gh_status status;
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
        status = table->skipping ? GH_OK : geo_take_line(table, gh_str_make(rows.bytes + at, size));
        if (status != GH_OK) return status;
        table->skipping = false;
        at += size + 1;
        *used = at;
    }
    return GH_OK;
}
