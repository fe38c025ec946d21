/* ops_files.c -- files that are sent, read, listed, looked at and removed; aggregates that are flushed and read. */

#include "ops.h"

#define CHUNK GH_FILE_CHUNK_MIN

/* ---- send -------------------------------------------------------------------------------------------------------- */

static gh_status send_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_file_send_config config = gh_file_send_config_default();
    const size_t count = ops_count(input, 3), there = count > 4 ? 0 : count;
    gh_str* readers = OPS_LEND_ARRAY(place, gh_str, there);
    for (size_t i = 0; i < there; i++) readers[i] = ops_lent_name(place, input);
    config.readers = readers;
    config.reader_count = there;
    config.chunk_bytes = CHUNK;
    config.cap_bytes = 8 * CHUNK;
    config.lanes = 1 + fuzz_below(input, 3);
    config.tick_bytes = CHUNK;
    config.progress_us = ops_time(input, 2 * WORLD_SECOND_US);
    config.lease_us = ops_time(input, 2 * WORLD_SECOND_US);
    config.stream = fuzz_bit(input);
    if (fuzz_bit(input)) config.channel = ops_name(place, input);
    if (fuzz_bit(input)) config.size_bytes = ops_vary(input, 3000);
    OPS_VARY(input, config.cap_bytes, uint64_t);
    const size_t size = gh_file_send_memory(&config);
    config.memory_size = size > 65536 ? 0 : size;
    config.memory = ops_lend(place, config.memory_size);
    return gh_file_send_begin(OPS_OP(place, gh_file_send), client, ops_name(place, input), &config);
}

static void send_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_file_send* send = (gh_file_send*)place->op;
    static const char zeros[2000];
    size_t taken = 0;
    (void)client;
    if (fuzz_byte(input) > 192)
    {
        gh_file_send_finish(send);
        return;
    }
    const gh_str text =
        fuzz_bit(input) ? gh_str_make(zeros, 1 + fuzz_below(input, sizeof(zeros))) : fuzz_text(input, 99);
    const gh_status status = gh_file_send_push(send, text, &taken);
    FUZZ_MUST(taken <= text.size);
    if (status == GH_OK) FUZZ_MUST(taken == text.size);
}

/* ---- read -------------------------------------------------------------------------------------------------------- */

static gh_status read_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_file_read_config config = gh_file_read_config_default();
    if (fuzz_bit(input)) config.channel = ops_name(place, input);
    if (fuzz_byte(input) > 224) config.id = ops_vary(input, 7);
    config.format = fuzz_bit(input) ? GH_FILE_GZIP : GH_FILE_PLAIN;
    config.keep = fuzz_bit(input) ? GH_FILE_AT_END : GH_FILE_AS_READ;
    config.chunk_bytes = CHUNK;
    config.lanes = 1 + fuzz_below(input, 3);
    config.line_bytes = 1 + fuzz_below(input, 64);
    config.progress_us = ops_time(input, 2 * WORLD_SECOND_US);
    const size_t size = gh_file_read_memory(&config);
    config.memory_size = size > 131072 ? 0 : size;
    config.memory = ops_lend(place, config.memory_size);
    return gh_file_read_begin(OPS_OP(place, gh_file_read), client, ops_name(place, input), ops_name(place, input),
                              &config);
}

static void read_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_file_read* read = (gh_file_read*)place->op;
    gh_str text = {NULL, 0};
    (void)client;
    switch (fuzz_below(input, 6))
    {
    case 0: gh_file_read_done(read); break;
    case 1: gh_file_read_recall(read, fuzz_text(input, 32)); break;
    case 2:
    case 3:
        if (gh_file_read_line(read, &text) == GH_OK) fuzz_touch(text);
        break;
    default:
        if (gh_file_read_block(read, &text) == GH_OK) fuzz_touch(text);
        break;
    }
}

/* ---- list, look, remove ------------------------------------------------------------------------------------------ */

static gh_status list_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_files_list_config config = gh_files_list_config_default();
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    if (fuzz_bit(input)) config.after = ops_vary(input, 1);
    config.wait_us = fuzz_bit(input) ? 0 : ops_time(input, WORLD_SECOND_US);
    config.timeout_us = ops_time(input, config.timeout_us);
    config.entries = OPS_LEND_ARRAY(place, gh_file_entry, there);
    config.entry_count = there;
    config.names = ops_room(place, input, there * GH_NAME_SIZE_MAX, &config.names_size);
    return gh_files_list_begin(OPS_OP(place, gh_files_list), client, ops_name(place, input), &config);
}

static void list_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_files_list* list = (const gh_files_list*)place->op;
    (void)client;
    (void)input;
    if (gh_op_poll(&list->op) != GH_OK) return;
    FUZZ_MUST(list->count >= 1);
    for (uint32_t i = 0; i < list->count; i++)
    {
        fuzz_touch(list->entries[i].name);
        FUZZ_MUST(list->entries[i].name.size <= GH_NAME_SIZE_MAX);
        if (i > 0) FUZZ_MUST(list->entries[i].number > list->entries[i - 1].number);
    }
}

static gh_status look_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_file_look_config config = gh_file_look_config_default();
    config.timeout_us = ops_time(input, config.timeout_us);
    return gh_file_look_begin(OPS_OP(place, gh_file_look), client, ops_name(place, input), &config);
}

static gh_status remove_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_file_remove_config config = gh_file_remove_config_default();
    const gh_str channel = fuzz_bit(input) ? ops_name(place, input) : gh_str_make(NULL, 0);
    config.timeout_us = ops_time(input, config.timeout_us);
    return gh_file_remove_begin(OPS_OP(place, gh_file_remove), client, ops_name(place, input), ops_vary(input, 7),
                                channel, &config);
}

/* ---- aggregates -------------------------------------------------------------------------------------------------- */

#define NODES 12u

static gh_geo* the_table(void)
{
    static gh_geo* table;
    gh_geo_config config = gh_geo_config_default();
    size_t used;
    if (table != NULL) return table;
    config.ipv4_capacity = config.ipv6_capacity = 4;
    config.nodes_capacity = NODES;
    config.text_bytes = 64;
    const size_t size = gh_geo_memory(&config);
    FUZZ_MUST(gh_geo_init(&table, &config, fuzz_block(size), size) == GH_OK);
    gh_geo_add_rows(table, gh_str_literal("1.0.0.0,1.0.0.9,a,b,c\n2.0.0.0,2.0.0.9,a,b,d\n"), &used);
    FUZZ_MUST(gh_geo_seal(table, 0) == GH_OK);
    return table;
}

static gh_status flush_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    static const gh_str lines[] = {GH_STR_INIT("1.0.0.1 2011-10-10 13:55:36 login\n"),
                                   GH_STR_INIT("2.0.0.1 2011-10-11 13:55:36 login\n"),
                                   GH_STR_INIT("9.0.0.1 2011-10-10 13:55:36 login\n")};
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_aggregate_flush_config flush = gh_aggregate_flush_config_default();
    gh_aggregate* aggregate = NULL;
    config.nodes_capacity = NODES;
    config.days_capacity = 2;
    const size_t size = gh_aggregate_memory(&config);
    FUZZ_MUST(gh_aggregate_init(&aggregate, &config, ops_lend(place, size), size) == GH_OK);
    FUZZ_MUST(gh_aggregate_start(aggregate, the_table()) == GH_OK);
    for (uint8_t left = fuzz_byte(input) & 3; left > 0; left--)
        gh_aggregate_add(aggregate, lines[fuzz_below(input, FUZZ_COUNT(lines))]);
    flush.progress_us = ops_time(input, 2 * WORLD_SECOND_US);
    if (fuzz_byte(input) > 192) flush.keep_us = ops_vary(input, 3600 * WORLD_SECOND_US);
    return gh_aggregate_flush_begin(OPS_OP(place, gh_aggregate_flush), client, aggregate, ops_name(place, input),
                                    ops_name(place, input), &flush);
}

static gh_status totals_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_aggregate_read_config config = gh_aggregate_read_config_default();
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    config.level = (gh_aggregate_level)fuzz_below(input, 3);
    config.timeout_us = ops_time(input, config.timeout_us);
    if (fuzz_byte(input) > 192) config.first = (uint32_t)ops_vary(input, 1);
    config.totals = OPS_LEND_ARRAY(place, gh_aggregate_total, there);
    config.total_count = there;
    config.text = ops_room(place, input, 64, &config.text_size);
    const gh_str day = fuzz_byte(input) < 240 ? gh_str_literal("2011-10-10") : ops_name(place, input);
    return gh_aggregate_read_begin(OPS_OP(place, gh_aggregate_read), client, ops_name(place, input), day, &config);
}

static void totals_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_aggregate_read* read = (const gh_aggregate_read*)place->op;
    (void)client;
    (void)input;
    if (gh_op_poll(&read->op) != GH_OK) return;
    FUZZ_MUST(read->count >= 1);
    for (uint32_t i = 0; i < read->count; i++)
    {
        fuzz_touch(read->totals[i].country);
        fuzz_touch(read->totals[i].region);
        fuzz_touch(read->totals[i].city);
    }
}

const ops_kind ops_files[] = {
    {"file send", send_begin, send_use, NULL},  {"file read", read_begin, read_use, NULL},
    {"files list", list_begin, list_use, NULL}, {"file look", look_begin, NULL, NULL},
    {"file remove", remove_begin, NULL, NULL},  {"aggregate flush", flush_begin, NULL, NULL},
    {"totals", totals_begin, totals_use, NULL}, {NULL, NULL, NULL, NULL},
};
