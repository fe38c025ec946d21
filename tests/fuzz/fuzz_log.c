/* fuzz_log.c -- log lines in pieces of any size, against a reader of lines that takes one at a time and is in no hurry.
 */

#include "fuzz.h"
#include "numeric.h"

#include "guildhall/aggregate.h"
#include "guildhall/geo.h"

#include <time.h>

#define BYTES_MAX 6000u
#define DAYS      3u
#define NODES     16u

/* ---- places ------------------------------------------------------------------------------------------------------ */

static const char places[] = "1.0.0.0,1.0.0.255,a,b,c\n"
                             "10.0.0.0,10.255.255.255,a,b,d\n"
                             "200.0.0.1,200.0.0.1,e,f,g\n"
                             "2001:db8::,2001:db8::ffff,e,f,h\n";

static gh_geo* the_table(void)
{
    static gh_geo* table;
    gh_geo_config config = gh_geo_config_default();
    size_t used;
    if (table != NULL) return table;
    config.ipv4_capacity = config.ipv6_capacity = 8;
    config.nodes_capacity = NODES;
    config.text_bytes = 64;
    const size_t size = gh_geo_memory(&config);
    FUZZ_MUST(gh_geo_init(&table, &config, fuzz_block(size), size) == GH_OK);
    FUZZ_MUST(gh_geo_add_rows(table, gh_str_of(places), &used) == GH_OK && used == sizeof(places) - 1);
    FUZZ_MUST(gh_geo_seal(table, 0) == GH_OK);
    return table;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

typedef struct model
{
    gh_str action;
    char days[DAYS][10];
    size_t day_count;
    uint64_t counts[DAYS][NODES];
    uint64_t unknown_of[DAYS];
    uint64_t lines;
    uint64_t unknown;
    uint64_t malformed;
    uint64_t other;
    bool full;
    bool doubtful; /* of a line of blanks that is too long nothing is said */
} model;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static gh_str next_field(gh_str* line)
{
    size_t size = 0;
    while (line->size > 0 && is_blank(line->bytes[0])) line->bytes++, line->size--;
    while (size < line->size && !is_blank(line->bytes[size])) size++;
    const gh_str field = gh_str_make(line->bytes, size);
    line->bytes += size;
    line->size -= size;
    return field;
}

/* Each N of the form is a digit, and all else is itself; *numbers gets a number for each row of N. */
static bool has_form(gh_str text, const char* form, int* numbers)
{
    if (text.size != strlen(form)) return false;
    for (size_t i = 0; i < text.size; i++)
    {
        const char c = text.bytes[i];
        if (form[i] != 'N')
        {
            if (c != form[i]) return false;
            continue;
        }
        if (c < '0' || c > '9') return false;
        if (i == 0 || form[i - 1] != 'N') *numbers++ = 0;
        numbers[-1] = numbers[-1] * 10 + (c - '0');
    }
    return true;
}

/* The calendar is that of the C library. */
static bool is_day(gh_str text)
{
    int n[3];
    if (!has_form(text, "NNNN-NN-NN", n) || n[0] < 2000 || n[0] > 2099) return false;
    struct tm when = {.tm_year = n[0] - 1900, .tm_mon = n[1] - 1, .tm_mday = n[2], .tm_hour = 12};
    const struct tm asked = when;
    if (n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31) return false;
    if (mktime(&when) == (time_t)-1) return false;
    return when.tm_mday == asked.tm_mday && when.tm_mon == asked.tm_mon;
}

static bool is_time(gh_str text)
{
    int n[3];
    return has_form(text, "NN:NN:NN", n) && n[0] < 24 && n[1] < 60 && n[2] <= 60;
}

static size_t day_of(model* m, gh_str text)
{
    for (size_t i = 0; i < m->day_count; i++)
        if (memcmp(m->days[i], text.bytes, 10) == 0) return i;
    if (m->day_count == DAYS)
    {
        m->full = true;
        return DAYS;
    }
    memcpy(m->days[m->day_count], text.bytes, 10);
    return m->day_count++;
}

/* Of the few that there are. */
static uint32_t place_of(const gh_geo* table, numeric at)
{
    const uint32_t low = (uint32_t)at.low;
    const char* city = NULL;
    if (at.is_ipv6) city = at.high == UINT64_C(0x20010db800000000) && at.low <= 0xffff ? "h" : NULL;
    else if (low >> 8 == 0x010000) city = "c";
    else if (low >> 24 == 10) city = "d";
    else if (low == 0xc8000001) city = "g";
    for (uint32_t i = 0; city != NULL && i < gh_geo_node_count(table); i++)
        if (gh_str_equal(gh_geo_node_name(table, i), gh_str_of(city))) return i;
    return GH_GEO_NO_NODE;
}

/* False: it is malformed. */
static bool model_fields(model* m, gh_str line)
{
    const gh_str address = next_field(&line), day = next_field(&line), hour = next_field(&line),
                 event = next_field(&line);
    numeric at;
    if (event.size == 0 || !is_time(hour) || !numeric_parse(address, &at) || !is_day(day)) return false;
    if (event.size < m->action.size || memcmp(event.bytes, m->action.bytes, m->action.size) != 0)
    {
        m->other++;
        return true;
    }
    const size_t of = day_of(m, day);
    if (of == DAYS) return true;
    const uint32_t node = place_of(the_table(), at);
    m->lines++;
    if (node == GH_GEO_NO_NODE) m->unknown++, m->unknown_of[of]++;
    else m->counts[of][node]++;
    return true;
}

static void model_line(model* m, gh_str line)
{
    gh_str rest;
    if (line.size > 0 && line.bytes[line.size - 1] == '\r') line.size--;
    rest = line;
    const bool blank = next_field(&rest).size == 0;
    if (blank && line.size >= GH_AGGREGATE_LINE_MAX) m->doubtful = true;
    if (blank) return;
    if (line.size > GH_AGGREGATE_LINE_MAX || !model_fields(m, line)) m->malformed++;
}

static void model_all(model* m, gh_str text)
{
    while (text.size > 0)
    {
        const char* end = memchr(text.bytes, '\n', text.size);
        const size_t size = end == NULL ? text.size : (size_t)(end - text.bytes);
        model_line(m, gh_str_make(text.bytes, size));
        text = end == NULL ? gh_str_make(NULL, 0) : gh_str_make(end + 1, text.size - size - 1);
    }
}

/* ---- ours -------------------------------------------------------------------------------------------------------- */

static gh_aggregate* make_aggregate(gh_str action, void** memory)
{
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_aggregate* aggregate = NULL;
    config.nodes_capacity = NODES;
    config.days_capacity = DAYS;
    config.action = action;
    const size_t size = gh_aggregate_memory(&config);
    *memory = fuzz_block(size);
    FUZZ_MUST(gh_aggregate_init(&aggregate, &config, *memory, size) == GH_OK);
    FUZZ_MUST(gh_aggregate_start(aggregate, the_table()) == GH_OK);
    return aggregate;
}

static gh_status add(gh_aggregate* aggregate, gh_str bytes, bool is_line)
{
    char* copy = fuzz_exact(bytes.bytes, bytes.size);
    const gh_str exact = gh_str_make(copy, bytes.size);
    const gh_status status = is_line ? gh_aggregate_add_line(aggregate, exact) : gh_aggregate_add(aggregate, exact);
    fuzz_unpoison(copy, 1);
    free(copy);
    FUZZ_MUST(status == GH_OK || status == GH_FULL);
    return status;
}

static gh_status add_pieces(gh_aggregate* aggregate, fuzz_input* input, gh_str text)
{
    for (size_t at = 0; at < text.size;)
    {
        size_t size = 1u + fuzz_byte(input);
        if (size == 1 || size > text.size - at) size = text.size - at;
        add(aggregate, gh_str_make(text.bytes + at, size), false);
        at += size;
    }
    return add(aggregate, gh_str_make("", 0), true); /* that was the end */
}

static gh_status add_lines(gh_aggregate* aggregate, gh_str text)
{
    while (text.size > 0)
    {
        const char* end = memchr(text.bytes, '\n', text.size);
        const size_t size = end == NULL ? text.size : (size_t)(end - text.bytes) + 1;
        add(aggregate, gh_str_make(text.bytes, size), true);
        text = gh_str_make(text.bytes + size, text.size - size);
    }
    return add(aggregate, gh_str_make("", 0), true);
}

static void must_be_same(const gh_aggregate* aggregate, const model* m)
{
    gh_aggregate_stats stats;
    FUZZ_MUST(gh_aggregate_get_stats(aggregate, &stats) == GH_OK);
    FUZZ_MUST(stats.lines == m->lines && stats.lines_unknown == m->unknown && stats.lines_other == m->other);
    FUZZ_MUST(stats.days == m->day_count);
    if (!m->doubtful) FUZZ_MUST(stats.lines_malformed == m->malformed);
    for (size_t day = 0; day < m->day_count; day++)
    {
        const gh_str name = gh_str_make(m->days[day], 10);
        FUZZ_MUST(gh_aggregate_count(aggregate, name, GH_GEO_NO_NODE) == m->unknown_of[day]);
        for (uint32_t node = 0; node < gh_geo_node_count(the_table()); node++)
        {
            uint64_t expected = 0; /* with all that lies below it */
            for (uint32_t each = 0; each < NODES; each++)
                for (uint32_t at = each; at != GH_GEO_NO_NODE; at = gh_geo_node_parent(the_table(), at))
                    if (at == node) expected += m->counts[day][each];
            FUZZ_MUST(gh_aggregate_count(aggregate, name, node) == expected);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    model m;
    void* memory;
    fuzz_input input = fuzz_input_of(data, size < BYTES_MAX ? size : BYTES_MAX);
    const bool by_line = fuzz_byte(&input) % 4 == 0;
    memset(&m, 0, sizeof(m));
    m.action = fuzz_text(&input, 4);
    const gh_str sizes = fuzz_text(&input, 16);
    fuzz_input pieces = fuzz_input_of((const uint8_t*)sizes.bytes, sizes.size);
    const gh_str text = fuzz_rest(&input);
    gh_aggregate* aggregate = make_aggregate(m.action, &memory);
    const gh_status status = by_line ? add_lines(aggregate, text) : add_pieces(aggregate, &pieces, text);
    model_all(&m, text);
    FUZZ_MUST((status == GH_FULL) == m.full);
    must_be_same(aggregate, &m);
    free(memory);
    return 0;
}
