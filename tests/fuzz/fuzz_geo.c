/* fuzz_geo.c -- addresses against inet_pton, tables of ranges against a list that is looked through.

   The rows of a table come in pieces of any size, or its ranges one by one; it is sealed in steps; and each address
   that is near an end of a range is looked up. */

#include "fuzz.h"
#include "numeric.h"

#include "guildhall/geo.h"

#define RANGES_MAX 48u
#define ROWS_MAX   4096u
#define NAME_PARTS 3

typedef struct range
{
    bool is_kept;
    numeric first;
    numeric last;
    size_t name_sizes[NAME_PARTS];
    char names[NAME_PARTS][GH_GEO_NAME_SIZE_MAX];
} range;

typedef struct model
{
    range ranges[RANGES_MAX];
    size_t count;
    uint64_t rows;
    uint64_t malformed;
    bool doubtful; /* two ranges begin at one address: which of them stays is not said */
    bool full;
} model;

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static void try_address(gh_str text)
{
    gh_geo_address got;
    numeric expected;
    const gh_status status = gh_geo_parse(text, &got);
    const bool is_one = numeric_parse(text, &expected);
    if ((status == GH_OK) != is_one) FUZZ_FAIL("\"%.*s\" is %s", GH_STR_ARG(text), gh_status_name(status));
    if (!is_one) return;
    FUZZ_MUST(got.is_ipv6 == expected.is_ipv6 && got.high == expected.high && got.low == expected.low);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* In quotes a quote is two. False: it is no field. */
static bool model_field(gh_str line, size_t* at, char* out, size_t* size)
{
    const bool quoted = *at < line.size && line.bytes[*at] == '"';
    *size = 0;
    if (quoted) (*at)++;
    for (;; (*at)++)
    {
        if (*at == line.size) return !quoted;
        char c = line.bytes[*at];
        if (!quoted && c == ',') return true;
        if (quoted && c == '"')
        {
            if (*at + 1 == line.size || line.bytes[*at + 1] != '"') break;
            (*at)++;
        }
        out[(*size)++] = c;
    }
    (*at)++;
    return *at == line.size || line.bytes[*at] == ',';
}

static bool model_cell(gh_str text, numeric* made)
{
    char copy[16];
    bool digits = text.size > 0 && text.size <= 11;
    for (size_t i = 0; i < text.size; i++) digits = digits && text.bytes[i] >= '0' && text.bytes[i] <= '9';
    if (!digits) return numeric_parse(text, made);
    memcpy(copy, text.bytes, text.size);
    copy[text.size] = 0;
    *made = (numeric){0, strtoull(copy, NULL, 10), false};
    return made->low <= UINT32_MAX;
}

/* "first,last,country,region,city", and whatever more. */
static bool model_row(gh_str line, range* made)
{
    static char fields[5][ROWS_MAX];
    size_t sizes[5] = {0}, at = 0, count = 0;
    for (; count < 5; count++)
    {
        if (count > 0 && at == line.size) break;
        if (count > 0) at++;
        if (!model_field(line, &at, fields[count], &sizes[count])) return false;
        if (sizes[count] > GH_GEO_NAME_SIZE_MAX) return false;
    }
    if (count < 3) return false;
    if (!model_cell(gh_str_make(fields[0], sizes[0]), &made->first)) return false;
    if (!model_cell(gh_str_make(fields[1], sizes[1]), &made->last)) return false;
    for (size_t i = 0; i < NAME_PARTS; i++)
    {
        made->name_sizes[i] = sizes[i + 2];
        memcpy(made->names[i], fields[i + 2], sizes[i + 2]);
    }
    return made->first.is_ipv6 == made->last.is_ipv6 && numeric_compare(made->first, made->last) <= 0;
}

static void model_add(model* m, const range* made)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->ranges[i].first.is_ipv6 == made->first.is_ipv6 && numeric_compare(m->ranges[i].first, made->first) == 0)
            m->doubtful = true;
    if (m->count == RANGES_MAX) m->full = true;
    else m->ranges[m->count++] = *made;
}

static void model_line(model* m, gh_str line)
{
    range made;
    memset(&made, 0, sizeof(made));
    if (line.size > 0 && line.bytes[line.size - 1] == '\r') line.size--;
    if (line.size == 0 || line.bytes[0] == '#') return;
    m->rows++;
    if (line.size <= GH_GEO_ROW_SIZE_MAX && model_row(line, &made)) model_add(m, &made);
    else m->malformed++;
}

static void model_rows(model* m, gh_str rows)
{
    size_t at = 0;
    while (at < rows.size)
    {
        const char* end = memchr(rows.bytes + at, '\n', rows.size - at);
        if (end == NULL) break;
        model_line(m, gh_str_make(rows.bytes + at, (size_t)(end - rows.bytes) - at));
        at = (size_t)(end - rows.bytes) + 1;
    }
}

/* Of ranges that overlap, that which begins first stays. */
static size_t model_seal(model* m)
{
    size_t left_out = 0;
    for (int pass = 0; pass < 2; pass++)
    {
        numeric end = {0, 0, false};
        bool any = false;
        for (;;)
        {
            range* next = NULL;
            for (size_t i = 0; i < m->count; i++)
            {
                range* each = &m->ranges[i];
                if (each->first.is_ipv6 != (pass == 1) || each->is_kept) continue;
                if (any && numeric_compare(each->first, end) <= 0) continue;
                if (next == NULL || numeric_compare(each->first, next->first) < 0) next = each;
            }
            if (next == NULL) break;
            next->is_kept = any = true;
            end = next->last;
        }
    }
    for (size_t i = 0; i < m->count; i++) left_out += !m->ranges[i].is_kept;
    return left_out;
}

static const range* model_find(const model* m, numeric at)
{
    for (size_t i = 0; i < m->count; i++)
    {
        const range* each = &m->ranges[i];
        if (each->is_kept && each->first.is_ipv6 == at.is_ipv6 && numeric_compare(each->first, at) <= 0 &&
            numeric_compare(at, each->last) <= 0)
            return each;
    }
    return NULL;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static gh_geo* make_table(void** memory)
{
    gh_geo_config config = gh_geo_config_default();
    gh_geo* table = NULL;
    config.ipv4_capacity = config.ipv6_capacity = RANGES_MAX;
    config.nodes_capacity = 3 * RANGES_MAX;
    config.text_bytes = ROWS_MAX;
    const size_t size = gh_geo_memory(&config);
    *memory = fuzz_block(size);
    FUZZ_MUST(gh_geo_init(&table, &config, *memory, size) == GH_OK);
    return table;
}

/* In pieces; what was not used is given again in front of the next. False: it is full. */
static bool add_rows(gh_geo* table, fuzz_input* input, gh_str rows)
{
    size_t at = 0, size = 0;
    while (at + size < rows.size)
    {
        size_t used = 0, more = 1u + fuzz_byte(input);
        if (more == 1) more = rows.size;
        size += more < rows.size - at - size ? more : rows.size - at - size;
        char* piece = fuzz_exact(rows.bytes + at, size);
        const gh_status status = gh_geo_add_rows(table, gh_str_make(piece, size), &used);
        free(piece);
        if (status == GH_FULL_IPV4 || status == GH_FULL_IPV6 || status == GH_FULL_NODES || status == GH_FULL_TEXT)
            return false;
        FUZZ_MUST(status == GH_OK && used <= size);
        at += used;
        size -= used;
    }
    return true;
}

static void must_be_node(const gh_geo* table, uint32_t node, const range* of)
{
    for (uint32_t level = 3; level-- > 0; node = gh_geo_node_parent(table, node))
    {
        FUZZ_MUST(node < gh_geo_node_count(table) && gh_geo_node_level(table, node) == level);
        FUZZ_MUST(gh_str_equal(gh_geo_node_name(table, node), gh_str_make(of->names[level], of->name_sizes[level])));
    }
    FUZZ_MUST(node == GH_GEO_NO_NODE);
}

static void look_up(const gh_geo* table, const model* m, numeric at)
{
    const range* expected = model_find(m, at);
    const uint32_t node =
        at.is_ipv6 ? gh_geo_find_ipv6(table, at.high, at.low) : gh_geo_find_ipv4(table, (uint32_t)at.low);
    if ((node == GH_GEO_NO_NODE) != (expected == NULL))
        FUZZ_FAIL("%llx %llx is in node %u", (unsigned long long)at.high, (unsigned long long)at.low, node);
    if (expected != NULL) must_be_node(table, node, expected);
}

static numeric next_to(numeric at, int step)
{
    numeric made = {at.high, at.low + (uint64_t)(int64_t)step, at.is_ipv6};
    if (step > 0 && made.low == 0) made.high++;
    if (step < 0 && made.low == UINT64_MAX) made.high--;
    return made;
}

static void look_up_all(const gh_geo* table, const model* m)
{
    for (size_t i = 0; i < m->count; i++)
    {
        const range* of = &m->ranges[i];
        for (int step = -1; step <= 1; step++)
        {
            numeric near_first = next_to(of->first, step), near_last = next_to(of->last, step);
            if (!of->first.is_ipv6) near_first.low &= UINT32_MAX, near_last.low &= UINT32_MAX;
            if (!of->first.is_ipv6) near_first.high = near_last.high = 0;
            look_up(table, m, near_first);
            look_up(table, m, near_last);
        }
    }
}

static void seal(gh_geo* table, uint32_t steps)
{
    gh_status status = GH_PENDING;
    for (int i = 0; i < 1000000 && status == GH_PENDING; i++) status = gh_geo_seal(table, steps);
    FUZZ_MUST(status == GH_OK);
}

static void must_have_counts(const gh_geo* table, const model* m, size_t left_out)
{
    gh_geo_stats stats;
    FUZZ_MUST(gh_geo_get_stats(table, &stats) == GH_OK);
    FUZZ_MUST(stats.rows == m->rows && stats.rows_malformed == m->malformed);
    if (m->doubtful) return;
    FUZZ_MUST(stats.ranges_overlapping == left_out);
    FUZZ_MUST(stats.ipv4_ranges + stats.ipv6_ranges == m->count - left_out);
}

static void try_table(fuzz_input* input)
{
    static model m;
    void* memory;
    gh_geo* table = make_table(&memory);
    const uint32_t steps = fuzz_byte(input);
    const gh_str sizes = fuzz_text(input, 16);
    fuzz_input pieces = fuzz_input_of((const uint8_t*)sizes.bytes, sizes.size);
    gh_str rows = fuzz_rest(input);
    if (rows.size > ROWS_MAX) rows.size = ROWS_MAX;
    while (rows.size > 0 && rows.bytes[rows.size - 1] != '\n') rows.size--; /* what has no end would wait for it */
    memset(&m, 0, sizeof(m));
    model_rows(&m, rows);
    if (add_rows(table, &pieces, rows))
    {
        seal(table, steps);
        must_have_counts(table, &m, model_seal(&m));
        if (!m.doubtful && !m.full) look_up_all(table, &m);
    }
    else FUZZ_MUST(m.full || m.count * 2 > RANGES_MAX);
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_input input = fuzz_input_of(data, size);
    if (fuzz_byte(&input) % 4 != 0)
    {
        try_table(&input);
        return 0;
    }
    gh_str rest = fuzz_rest(&input);
    char* copy = fuzz_exact(rest.bytes, rest.size);
    try_address(gh_str_make(copy, rest.size));
    fuzz_unpoison(copy, 1);
    free(copy);
    return 0;
}
