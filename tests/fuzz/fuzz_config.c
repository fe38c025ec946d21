/* fuzz_config.c -- configs with any numbers in their fields, against the bounds that the headers name.

   What is within them must be taken, and what is not must be refused with the status of a field that is wrong, in words
   that name it. A refused config leaves the memory alone that it came with; an accepted one is content with exactly as
   much as it asks for. */

#include "world.h"

#define SECOND UINT64_C(1000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

typedef struct field
{
    const char* name;
    uint16_t at;
    uint8_t size;
    bool or_zero;
    uint64_t least;
    uint64_t most;
    gh_status status;
} field;

#define FIELD(type, name, least, most, status)                                                                         \
    {#name, offsetof(type, name), sizeof(((type*)0)->name), false, least, most, status}
#define OR_ZERO(type, name, least, most, status)                                                                       \
    {#name, offsetof(type, name), sizeof(((type*)0)->name), true, least, most, status}
#define TIMEOUT(type) FIELD(type, timeout_us, 1000, 60 * SECOND, GH_INVALID_TIMEOUT)

typedef union any_config
{
    size_t struct_size;
    gh_lock_config lock;
    gh_semaphore_config semaphore;
    gh_permit_config permit;
    gh_mailbox_config mailbox;
    gh_mailbox_fetch_config letters;
    gh_chat_config chat;
    gh_chat_feed_config feed;
    gh_contacts_config contacts;
    gh_guild_config guild;
    gh_queue_config queue;
    gh_row_schedule_config schedule;
    gh_rows_config rows;
    gh_counters_config counters;
    gh_counter_read_config samples;
    gh_counters_list_config names;
    gh_file_send_config send;
    gh_file_read_config read;
    gh_files_list_config files;
    gh_aggregate_config aggregate;
    gh_aggregate_flush_config flush;
    gh_geo_config geo;
    gh_command_config command;
    gh_client_config client;
} any_config;

typedef struct subject
{
    const char* name;
    const field* fields;
    size_t count;
    void (*fill)(any_config* config);
    gh_status (*try)(const any_config* config, gh_client* client);
    gh_status others[4]; /* that it may say of fields that fit one by one, and not together */
} subject;

#define FILL(member, function)                                                                                         \
    static void fill_##member(any_config* config)                                                                      \
    {                                                                                                                  \
        config->member = function();                                                                                   \
    }

static char buffer[65536];
static const gh_str a_name = GH_STR_INIT("thing");

/* Begun, and at once forgotten. */
#define BEGUN(type, call)                                                                                              \
    static type op;                                                                                                    \
    memset(&op, 0, sizeof(op));                                                                                        \
    const gh_status status = call;                                                                                     \
    gh_op_detach(&op.op);                                                                                              \
    return status

/* ---- locks and permits ------------------------------------------------------------------------------------------- */

FILL(lock, gh_lock_config_default)
static const field lock_fields[] = {
    FIELD(gh_lock_config, lease_us, 50000, HOUR, GH_INVALID_LEASE),
    FIELD(gh_lock_config, wait_us, 0, DAY, GH_INVALID_WAIT),
    FIELD(gh_lock_config, hold_us, 0, DAY, GH_INVALID_HOLD),
};
static gh_status try_lock(const any_config* config, gh_client* client)
{
    BEGUN(gh_lock, gh_lock_begin(&op, client, a_name, &config->lock));
}

FILL(semaphore, gh_semaphore_config_default)
static const field semaphore_fields[] = {OR_ZERO(gh_semaphore_config, limit, 1, 1000000, GH_INVALID_LIMIT),
                                         TIMEOUT(gh_semaphore_config)};
static gh_status try_semaphore(const any_config* config, gh_client* client)
{
    gh_semaphore made;
    return gh_semaphore_init(&made, client, a_name, &config->semaphore);
}

FILL(permit, gh_permit_config_default)
static const field permit_fields[] = {
    FIELD(gh_permit_config, permits, 1, 3, GH_INVALID_PERMITS),
    FIELD(gh_permit_config, lease_us, 50000, HOUR, GH_INVALID_LEASE),
    FIELD(gh_permit_config, wait_us, 0, DAY, GH_INVALID_WAIT),
    FIELD(gh_permit_config, hold_us, 0, DAY, GH_INVALID_HOLD),
};
static gh_status try_permit(const any_config* config, gh_client* client)
{
    gh_semaphore_config limits = gh_semaphore_config_default();
    gh_semaphore of;
    limits.limit = 3;
    gh_semaphore_init(&of, client, a_name, &limits);
    BEGUN(gh_permit, gh_permit_begin(&op, &of, &config->permit));
}

/* ---- mailboxes and chats ----------------------------------------------------------------------------------------- */

FILL(mailbox, gh_mailbox_config_default)
static const field mailbox_fields[] = {TIMEOUT(gh_mailbox_config),
                                       FIELD(gh_mailbox_config, capacity, 1, 100000, GH_INVALID_LIMIT)};
static gh_status try_mailbox(const any_config* config, gh_client* client)
{
    gh_mailbox made;
    return gh_mailbox_init(&made, client, a_name, &config->mailbox);
}

FILL(letters, gh_mailbox_fetch_config_default)
static const field letters_fields[] = {
    FIELD(gh_mailbox_fetch_config, wait_us, 0, HOUR, GH_INVALID_WAIT),
    FIELD(gh_mailbox_fetch_config, after, 0, (UINT64_C(1) << 53) - 1, GH_INVALID_ID),
    FIELD(gh_mailbox_fetch_config, messages_max, 0, 10000, GH_INVALID_LIMIT),
};
static gh_status try_letters(const any_config* config, gh_client* client)
{
    gh_mailbox_fetch_config with = config->letters;
    gh_mailbox of;
    with.buffer = buffer;
    with.buffer_size = sizeof(buffer);
    with.epoch = 1;
    gh_mailbox_init(&of, client, a_name, NULL);
    BEGUN(gh_mailbox_fetch, gh_mailbox_fetch_begin(&op, &of, &with));
}

FILL(chat, gh_chat_config_default)
static const field chat_fields[] = {TIMEOUT(gh_chat_config), FIELD(gh_chat_config, keep, 1, 100000, GH_INVALID_LIMIT),
                                    FIELD(gh_chat_config, members_max, 1, 10000, GH_INVALID_LIMIT)};
static gh_status try_chat(const any_config* config, gh_client* client)
{
    gh_chat made;
    return gh_chat_init(&made, client, a_name, &config->chat);
}

FILL(feed, gh_chat_feed_config_default)
static const field feed_fields[] = {FIELD(gh_chat_feed_config, messages_max, 1, 10000, GH_INVALID_LIMIT),
                                    FIELD(gh_chat_feed_config, list_us, SECOND, HOUR, GH_INVALID_TIMEOUT)};
static gh_status try_feed(const any_config* config, gh_client* client)
{
    static gh_chat_room rooms[2];
    static gh_chat_seat seats[2];
    static gh_chat_feed feed;
    gh_chat_feed_config with = config->feed;
    with.rooms = rooms;
    with.seats = seats;
    with.room_count = with.seat_count = 2;
    with.buffer = buffer;
    with.buffer_size = sizeof(buffer);
    memset(&feed, 0, sizeof(feed));
    const gh_status status = gh_chat_feed_begin(&feed, client, &with);
    gh_chat_feed_end(&feed);
    return status;
}

/* ---- contacts and guilds ----------------------------------------------------------------------------------------- */

FILL(contacts, gh_contacts_config_default)
static const field contacts_fields[] = {
    TIMEOUT(gh_contacts_config),
    FIELD(gh_contacts_config, capacity, 1, 10000, GH_INVALID_CONTACTS_CAPACITY),
    FIELD(gh_contacts_config, idle_us, 0, 3650 * DAY, GH_INVALID_CONTACTS_IDLE),
};
static gh_status try_contacts(const any_config* config, gh_client* client)
{
    gh_contacts made;
    const gh_status status = gh_contacts_init(&made, client, a_name, &config->contacts, NULL, 0);
    FUZZ_MUST((gh_contacts_memory(&config->contacts) > 0) == (status == GH_OK));
    return status;
}

FILL(guild, gh_guild_config_default)
static const field guild_fields[] = {TIMEOUT(gh_guild_config),
                                     FIELD(gh_guild_config, capacity, 1, 1000000, GH_INVALID_GUILD_CAPACITY)};
static gh_status try_guild(const any_config* config, gh_client* client)
{
    gh_guild made;
    return gh_guild_init(&made, client, a_name, &config->guild);
}

/* ---- tasks and rows ---------------------------------------------------------------------------------------------- */

FILL(queue, gh_queue_config_default)
static const field queue_fields[] = {
    FIELD(gh_queue_config, timeout_us, 1000, HOUR, GH_INVALID_TIMEOUT),
    FIELD(gh_queue_config, capacity, 1, 100000000, GH_INVALID_TASK_CAPACITY),
    FIELD(gh_queue_config, attempts_max, 1, 1000, GH_INVALID_TASK_ATTEMPTS),
    FIELD(gh_queue_config, lease_us, 50000, DAY, GH_INVALID_LEASE),
    FIELD(gh_queue_config, wait_us, 0, DAY, GH_INVALID_WAIT),
    FIELD(gh_queue_config, count_min, 0, 30, GH_INVALID_TASKS),
    FIELD(gh_queue_config, keep_us, 10 * SECOND, 30 * DAY, GH_INVALID_TASK_KEEP),
    FIELD(gh_queue_config, backoff_min_us, 1000, 365 * DAY, GH_INVALID_TASK_BACKOFF),
    FIELD(gh_queue_config, backoff_max_us, 1000, 365 * DAY, GH_INVALID_TASK_BACKOFF),
};
static gh_status try_queue(const any_config* config, gh_client* client)
{
    gh_queue made;
    return gh_queue_init(&made, client, a_name, &config->queue);
}

FILL(schedule, gh_row_schedule_config_default)
static const field schedule_fields[] = {
    FIELD(gh_row_schedule_config, period_us, 100000, DAY, GH_INVALID_ROW_PERIOD),
    FIELD(gh_row_schedule_config, max_age_us, 0, 7 * DAY, GH_INVALID_ROW_AGE),
    TIMEOUT(gh_row_schedule_config),
};
static gh_status try_schedule(const any_config* config, gh_client* client)
{
    BEGUN(gh_row_schedule, gh_row_schedule_begin(&op, client, a_name, &config->schedule));
}

static void load_row(void* context, gh_row_load load, gh_str row)
{
    (void)context;
    (void)row;
    gh_row_complete(load, GH_EMPTY, gh_str_make(NULL, 0));
}

FILL(rows, gh_rows_config_default)
static const field rows_fields[] = {
    FIELD(gh_rows_config, lease_us, SECOND, HOUR, GH_INVALID_LEASE),
    FIELD(gh_rows_config, load_us, 1000, HOUR, GH_INVALID_TIMEOUT),
    FIELD(gh_rows_config, backoff_min_us, 1000, DAY, GH_INVALID_ROW_BACKOFF),
    FIELD(gh_rows_config, backoff_max_us, 1000, DAY, GH_INVALID_ROW_BACKOFF),
};
static gh_status try_rows(const any_config* config, gh_client* client)
{
    static gh_rows_slot slots[2];
    gh_rows_config with = config->rows;
    memset(slots, 0, sizeof(slots));
    with.loader = load_row;
    with.slots = slots;
    with.slot_count = 2;
    with.memory = buffer;
    with.memory_size = sizeof(buffer);
    BEGUN(gh_rows, gh_rows_begin(&op, client, &with));
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

FILL(counters, gh_counters_config_default)
static const field counters_fields[] = {
    FIELD(gh_counters_config, precision_count, 1, GH_COUNTERS_PRECISIONS_MAX, GH_INVALID_PRECISION),
    FIELD(gh_counters_config, counters_max, 1, GH_COUNTERS_MAX, GH_INVALID_COUNTERS_MAX),
    FIELD(gh_counters_config, fleet_max, 64, GH_COUNTERS_FLEET_MAX, GH_INVALID_COUNTERS_MAX),
    FIELD(gh_counters_config, flush_us, 10000, HOUR, GH_INVALID_FLUSH),
    OR_ZERO(gh_counters_config, clean_us, 100000, HOUR, GH_INVALID_CLEAN),
};
static gh_status try_counters(const any_config* config, gh_client* client)
{
    gh_counters* made = NULL;
    const size_t size = gh_counters_memory(&config->counters);
    void* memory = fuzz_block(size < 1000000 ? size : 16);
    const gh_status status = gh_counters_init(&made, client, &config->counters, memory, size < 1000000 ? size : 16);
    if (status == GH_OK) gh_counters_end(made);
    if (status == GH_OK) FUZZ_MUST(gh_counters_poll(made) == GH_IDLE);
    free(memory);
    FUZZ_MUST((size > 0) == (status == GH_OK || (status == GH_INVALID_MEMORY && size >= 1000000)));
    return size >= 1000000 && status == GH_INVALID_MEMORY ? GH_OK : status;
}

FILL(samples, gh_counter_read_config_default)
static const field samples_fields[] = {
    TIMEOUT(gh_counter_read_config),
    FIELD(gh_counter_read_config, seconds, 1, GH_COUNTERS_SECONDS_MAX, GH_INVALID_PRECISION),
    FIELD(gh_counter_read_config, sample_count, 1, GH_COUNTERS_SAMPLES_MAX, GH_INVALID_SAMPLES),
};
static gh_status try_samples(const any_config* config, gh_client* client)
{
    static gh_counter_sample samples[GH_COUNTERS_SAMPLES_MAX];
    gh_counter_read_config with = config->samples;
    with.samples = samples;
    BEGUN(gh_counter_read, gh_counter_read_begin(&op, client, a_name, &with));
}

FILL(names, gh_counters_list_config_default)
static const field names_fields[] = {
    TIMEOUT(gh_counters_list_config),
    FIELD(gh_counters_list_config, name_count, 1, GH_COUNTERS_LIST_MAX, GH_INVALID_LIMIT),
    FIELD(gh_counters_list_config, after, 0, (UINT64_C(64) << 32) - 1, GH_INVALID_LIMIT),
};
static gh_status try_names(const any_config* config, gh_client* client)
{
    static gh_name names[GH_COUNTERS_LIST_MAX];
    gh_counters_list_config with = config->names;
    with.names = names;
    BEGUN(gh_counters_list, gh_counters_list_begin(&op, client, &with));
}

/* ---- files and aggregates ---------------------------------------------------------------------------------------- */

FILL(send, gh_file_send_config_default)
static const field send_fields[] = {
    FIELD(gh_file_send_config, cap_bytes, 1024, GH_FILE_CAP_MAX, GH_INVALID_CAP),
    FIELD(gh_file_send_config, channel_bytes, 1024, 1024 * GH_FILE_CAP_MAX, GH_INVALID_CAP),
    FIELD(gh_file_send_config, chunk_bytes, 1024, 131072, GH_INVALID_CHUNK),
    FIELD(gh_file_send_config, lanes, 1, 16, GH_INVALID_CHUNK),
    FIELD(gh_file_send_config, tick_bytes, 1024, 1u << 30, GH_INVALID_TICK_BYTES),
    FIELD(gh_file_send_config, progress_us, 1000, DAY, GH_INVALID_TIMEOUT),
    FIELD(gh_file_send_config, abandoned_us, SECOND, 7 * DAY, GH_INVALID_ABANDONED),
    FIELD(gh_file_send_config, lease_us, SECOND, DAY, GH_INVALID_LEASE),
};
static gh_status try_send(const any_config* config, gh_client* client)
{
    static const gh_str readers[] = {GH_STR_INIT("one")};
    gh_file_send_config with = config->send;
    static gh_file_send op;
    with.readers = readers;
    with.reader_count = 1;
    with.memory_size = gh_file_send_memory(&with);
    if (with.memory_size > 4000000) return GH_OK;
    with.memory = fuzz_block(with.memory_size);
    memset(&op, 0, sizeof(op));
    const gh_status status = gh_file_send_begin(&op, client, a_name, &with);
    gh_op_detach(&op.op);
    free(with.memory);
    if (status == GH_OK) FUZZ_MUST(with.memory_size > 0);
    return status == GH_TOO_LARGE ? GH_OK : status; /* of another client's out_bytes it may be good */
}

FILL(read, gh_file_read_config_default)
static const field read_fields[] = {
    FIELD(gh_file_read_config, chunk_bytes, 1024, 131072, GH_INVALID_CHUNK),
    FIELD(gh_file_read_config, lanes, 1, 16, GH_INVALID_CHUNK),
    FIELD(gh_file_read_config, line_bytes, 1, 1048576, GH_INVALID_LINE),
    FIELD(gh_file_read_config, tick_bytes, 1, 1u << 30, GH_INVALID_TICK_BYTES),
    FIELD(gh_file_read_config, progress_us, 1000, DAY, GH_INVALID_TIMEOUT),
    FIELD(gh_file_read_config, format, 0, 1, GH_INVALID_FORMAT),
    FIELD(gh_file_read_config, keep, 0, 1, GH_INVALID_FORMAT),
};
static gh_status try_read(const any_config* config, gh_client* client)
{
    gh_file_read_config with = config->read;
    static gh_file_read op;
    with.memory_size = gh_file_read_memory(&with);
    with.memory = fuzz_block(with.memory_size);
    memset(&op, 0, sizeof(op));
    const gh_status status = gh_file_read_begin(&op, client, a_name, a_name, &with);
    gh_op_detach(&op.op);
    free(with.memory);
    if (status == GH_OK) FUZZ_MUST(with.memory_size > 0);
    return status;
}

FILL(files, gh_files_list_config_default)
static const field files_fields[] = {
    TIMEOUT(gh_files_list_config),
    FIELD(gh_files_list_config, wait_us, 0, HOUR, GH_INVALID_WAIT),
    FIELD(gh_files_list_config, after, 0, (UINT64_C(1) << 53) - 1, GH_INVALID_ID),
};
static gh_status try_files(const any_config* config, gh_client* client)
{
    static gh_file_entry entries[2];
    gh_files_list_config with = config->files;
    with.entries = entries;
    with.entry_count = 2;
    with.names = buffer;
    with.names_size = sizeof(buffer);
    BEGUN(gh_files_list, gh_files_list_begin(&op, client, a_name, &with));
}

FILL(aggregate, gh_aggregate_config_default)
static const field aggregate_fields[] = {FIELD(gh_aggregate_config, nodes_capacity, 1, 16777216, GH_INVALID_CAPACITY),
                                         FIELD(gh_aggregate_config, days_capacity, 1, 64, GH_INVALID_CAPACITY)};
static gh_status try_aggregate(const any_config* config, gh_client* client)
{
    gh_aggregate* made = NULL;
    const size_t size = gh_aggregate_memory(&config->aggregate);
    (void)client;
    if (size > 4000000) return GH_OK;
    void* memory = fuzz_block(size);
    const gh_status status = gh_aggregate_init(&made, &config->aggregate, memory, size);
    free(memory);
    FUZZ_MUST((size > 0) == (status == GH_OK));
    return status;
}

FILL(geo, gh_geo_config_default)
static const field geo_fields[] = {FIELD(gh_geo_config, ipv4_capacity, 0, 16777216, GH_INVALID_CAPACITY),
                                   FIELD(gh_geo_config, ipv6_capacity, 0, 16777216, GH_INVALID_CAPACITY),
                                   FIELD(gh_geo_config, nodes_capacity, 3, 16777216, GH_INVALID_CAPACITY),
                                   FIELD(gh_geo_config, text_bytes, 1, 1u << 30, GH_INVALID_CAPACITY)};
static gh_status try_geo(const any_config* config, gh_client* client)
{
    gh_geo* made = NULL;
    const size_t size = gh_geo_memory(&config->geo);
    (void)client;
    if (size > 8000000) return GH_OK;
    void* memory = fuzz_block(size);
    const gh_status status = gh_geo_init(&made, &config->geo, memory, size);
    free(memory);
    FUZZ_MUST((size > 0) == (status == GH_OK));
    return status;
}

FILL(command, gh_command_config_default)
static const field command_fields[] = {FIELD(gh_command_config, timeout_us, 1000, HOUR, GH_INVALID_TIMEOUT),
                                       FIELD(gh_command_config, repeat, 0, 2, GH_INVALID_REPEAT)};
static gh_status try_command(const any_config* config, gh_client* client)
{
    static const gh_str words[] = {GH_STR_INIT("GET"), GH_STR_INIT("key")};
    BEGUN(gh_command, gh_command_begin(&op, client, words, 2, &config->command));
}

/* ---- clients ----------------------------------------------------------------------------------------------------- */

static void fill_client(any_config* config)
{
    config->client = world_config();
}

static const field client_fields[] = {
    FIELD(gh_client_config, ops_capacity, 1, 4194304, GH_INVALID_CAPACITY),
    FIELD(gh_client_config, requests_capacity, 8, 65536, GH_INVALID_CAPACITY),
    FIELD(gh_client_config, detached_capacity, 0, 65536, GH_INVALID_CAPACITY),
    FIELD(gh_client_config, out_bytes, 16384, 64u << 20, GH_INVALID_CAPACITY),
    FIELD(gh_client_config, reply_bytes, 16384, 64u << 20, GH_INVALID_CAPACITY),
    FIELD(gh_client_config, reply_nodes, 64, 1048576, GH_INVALID_CAPACITY),
    FIELD(gh_client_config, connect_timeout_us, 1000, 60 * SECOND, GH_INVALID_TIMEOUT),
    FIELD(gh_client_config, request_timeout_us, 1000, 60 * SECOND, GH_INVALID_TIMEOUT),
    FIELD(gh_client_config, backoff_min_us, 1000, 60 * SECOND, GH_INVALID_TIMEOUT),
    FIELD(gh_client_config, backoff_max_us, 1000, 60 * SECOND, GH_INVALID_TIMEOUT),
    FIELD(gh_client_config, database, 0, 1023, GH_INVALID_DATABASE),
    FIELD(gh_client_config, quarantine_us, 0, HOUR, GH_INVALID_TIMEOUT),
    FIELD(gh_client_config, nodes_capacity, 2, 1024, GH_INVALID_CAPACITY),
    FIELD(gh_client_config, wait_us, 1000, 60 * SECOND, GH_INVALID_TIMEOUT),
    FIELD(gh_client_config, wait_replicas, 0, 15, GH_INVALID_REPLICAS),
};

static bool was_told;
static void note_told(void* context, gh_log_level level, gh_str text)
{
    (void)context;
    was_told = was_told || (level == GH_LOG_ERROR && text.size > 0);
}

/* Too small a block, and one that is not aligned, are refused, and no byte of them is written. */
static void must_refuse_memory(const gh_client_config* config, const gh_platform* platform, char* memory, size_t size)
{
    gh_client* made = NULL;
    fuzz_poison(memory, size);
    FUZZ_MUST(gh_client_init(memory, size - 1, config, platform, &made) == GH_INVALID_MEMORY);
    FUZZ_MUST(gh_client_init(memory + 8, size, config, platform, &made) == GH_INVALID_MEMORY);
    fuzz_unpoison(memory, size);
    FUZZ_MUST(made == NULL);
}

static gh_status try_client(const any_config* config, gh_client* client)
{
    static world other;
    static char little[64];
    gh_client_config with = config->client;
    gh_client* made = NULL;
    const size_t size = gh_client_memory(&with);
    (void)client;
    if (size > 8000000) return GH_OK;
    if (size == 0)
    {
        static gh_platform platform;
        with.hooks.log = note_told;
        was_told = false;
        fuzz_poison(little, sizeof(little));
        const gh_status status = gh_client_init(little, sizeof(little), &with, &platform, &made);
        fuzz_unpoison(little, sizeof(little));
        FUZZ_MUST(made == NULL && (was_told || status == GH_INVALID_CONFIG)); /* of another struct no hook is called */
        return status;
    }
    FUZZ_MUST(world_start(&other, &with, gh_str_make(NULL, 0)));
    for (int i = 0; i < 8; i++) world_tick(&other, 16000);
    world_end(&other);
    fuzz_unpoison(other.memory, other.memory_size);
    must_refuse_memory(&with, &other.platform, other.memory, other.memory_size);
    world_forget(&other);
    return GH_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

#define SUBJECT(member, ...)                                                                                           \
    {                                                                                                                  \
        #member, member##_fields, FUZZ_COUNT(member##_fields), fill_##member, try_##member,                            \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static const subject subjects[] = {
    SUBJECT(lock, GH_OK),
    SUBJECT(semaphore, GH_OK),
    SUBJECT(permit, GH_OK),
    SUBJECT(mailbox, GH_OK),
    SUBJECT(letters, GH_OK),
    SUBJECT(chat, GH_OK),
    SUBJECT(feed, GH_OK),
    SUBJECT(contacts, GH_OK),
    SUBJECT(guild, GH_OK),
    SUBJECT(queue, GH_INVALID_TASK_BACKOFF),
    SUBJECT(schedule, GH_INVALID_ROW_AGE),
    SUBJECT(rows, GH_INVALID_ROW_BACKOFF),
    SUBJECT(counters, GH_INVALID_PRECISION, GH_INVALID_SAMPLES),
    SUBJECT(samples, GH_OK),
    SUBJECT(names, GH_OK),
    SUBJECT(send, GH_INVALID_CAP, GH_INVALID_TICK_BYTES, GH_INVALID_CHUNK),
    SUBJECT(read, GH_OK),
    SUBJECT(files, GH_OK),
    SUBJECT(aggregate, GH_OK),
    SUBJECT(geo, GH_OK),
    SUBJECT(command, GH_OK),
    SUBJECT(client, GH_INVALID_TIMEOUT, GH_INVALID_REPLICAS),
};

static uint64_t read_field(const field* of, const any_config* config)
{
    const char* at = (const char*)config + of->at;
    uint32_t small;
    uint64_t large;
    memcpy(&small, at, sizeof(small));
    if (of->size == sizeof(small)) return small;
    memcpy(&large, at, sizeof(large));
    return large;
}

static void write_field(const field* of, any_config* config, uint64_t value)
{
    const uint32_t small = (uint32_t)value;
    char* at = (char*)config + of->at;
    if (of->size == sizeof(small)) memcpy(at, &small, sizeof(small));
    else memcpy(at, &value, sizeof(value));
}

/* At an edge of what may stand there, or anything. */
static uint64_t draw_value(const field* of, fuzz_input* input)
{
    switch (fuzz_byte(input) % 6)
    {
    case 0: return of->least;
    case 1: return of->least - 1;
    case 2: return of->most;
    case 3: return of->most + 1;
    case 4: return 0;
    default: return fuzz_edge(input);
    }
}

static bool fits(const field* of, const any_config* config)
{
    const uint64_t value = read_field(of, config);
    return (value >= of->least && value <= of->most) || (of->or_zero && value == 0);
}

/* The status is that of a field that does not fit, whose name the words have. */
static bool is_of_a_field(const subject* of, const any_config* config, gh_status status, gh_str words)
{
    for (size_t i = 0; i < of->count; i++)
    {
        const field* each = &of->fields[i];
        if (each->status != status || fits(each, config)) continue;
        if (words.size == 0 || memmem(words.bytes, words.size, " = ", 3) == NULL) return true;
        if (memmem(words.bytes, words.size, each->name, strlen(each->name)) != NULL) return true;
    }
    return false;
}

static void judge(const subject* of, const any_config* config, gh_status status, gh_str words)
{
    size_t wrong = 0;
    for (size_t i = 0; i < of->count; i++) wrong += !fits(&of->fields[i], config);
    for (size_t i = 0; i < FUZZ_COUNT(of->others); i++)
        if (of->others[i] == status && status != GH_OK) return;
    if (wrong == 0 && status != GH_OK) FUZZ_FAIL("%s: a good config is %s", of->name, gh_status_name(status));
    if (wrong == 0) return;
    if (!is_of_a_field(of, config, status, words))
        FUZZ_FAIL("%s: %zu fields are wrong, and it is %s: %.*s", of->name, wrong, gh_status_name(status),
                  GH_STR_ARG(words));
}

static gh_client* the_client(void)
{
    static world the_world;
    const gh_client_config config = world_config();
    if (the_world.client == NULL) FUZZ_MUST(world_start(&the_world, &config, gh_str_make(NULL, 0)));
    return the_world.client;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_input input = fuzz_input_of(data, size);
    const subject* of = &subjects[fuzz_below(&input, FUZZ_COUNT(subjects))];
    any_config config;
    gh_client* client = the_client();
    memset(&config, 0, sizeof(config));
    of->fill(&config);
    for (uint8_t left = 1 + (fuzz_byte(&input) & 3); left > 0; left--)
    {
        const field* each = &of->fields[fuzz_below(&input, (uint32_t)of->count)];
        write_field(each, &config, draw_value(each, &input));
    }
    const gh_status status = of->try(&config, client);
    const bool keeps_words = of->try != try_client && of->try != try_geo && of->try != try_aggregate;
    judge(of, &config, status, keeps_words ? gh_client_last_invalid(client) : gh_str_make(NULL, 0));
    if (fuzz_byte(&input) < 250) return 0;
    config.struct_size += 8; /* as by other headers */
    FUZZ_MUST(of->try(&config, client) == GH_INVALID_CONFIG || of->try == try_geo || of->try == try_aggregate);
    return 0;
}
