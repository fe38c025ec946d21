/* files_config.c -- what a sender and a reader of a file may be given, and how their memory is cut. */

#include "files_room.h"

#include "client/refusal.h"

#define FILES_CHANNEL_CAP_MAX  (GH_FILE_CAP_MAX * 1024u)
#define FILES_TICK_BYTES_MAX   1073741824u
#define FILES_TIME_MIN_US      1000ull
#define FILES_TIME_MAX_US      86400000000ull
#define FILES_ABANDONED_MIN_US 1000000ull
#define FILES_ABANDONED_MAX_US 604800000000ull

/* ---- small things -------------------------------------------------------------------------------------- */

void gh_files_encode_withdraw(gh_op* op, gh_request* request, gh_str channel, gh_str name, uint64_t id)
{
    gh_request_object_script(request, op, gh_files_channel_kind(), channel, "sfl");
    gh_request_number(request, op->sequence);
    gh_request_str(request, name);
    gh_request_number(request, id);
}

bool gh_files_parse_digest(gh_str text, gh_digest* digest)
{
    uint64_t halves[2];
    size_t i;
    if (text.size != 32 || !gh_hex_decode(gh_str_make(text.bytes, 16), &halves[0]) ||
        !gh_hex_decode(gh_str_make(text.bytes + 16, 16), &halves[1]))
        return false;
    for (i = 0; i < 16; i++) digest->bytes[i] = (uint8_t)(halves[i / 8] >> (56 - 8 * (i % 8)));
    return true;
}

/* ---- send ---------------------------------------------------------------------------------------------- */

static const gh_bound file_send_bounds_rows[] = {
    GH_BOUND(gh_file_send_config, chunk_bytes, 16 * 1024, GH_FILE_CHUNK_MIN, GH_FILE_CHUNK_MAX, GH_INVALID_CHUNK),
    GH_BOUND(gh_file_send_config, lanes, 4, 1, GH_FILE_LANES_MAX, GH_INVALID_CHUNK),
    GH_BOUND(gh_file_send_config, cap_bytes, 64u * 1024 * 1024, 1, GH_FILE_CAP_MAX, GH_INVALID_CAP),
    GH_BOUND(gh_file_send_config, channel_bytes, 1024u * 1024 * 1024, 1, FILES_CHANNEL_CAP_MAX, GH_INVALID_CAP),
    GH_BOUND(gh_file_send_config, tick_bytes, 256 * 1024, 1, FILES_TICK_BYTES_MAX, GH_INVALID_TICK_BYTES),
    GH_BOUND(gh_file_send_config, progress_us, 60000000, FILES_TIME_MIN_US, FILES_TIME_MAX_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_file_send_config, abandoned_us, 3600000000ull, FILES_ABANDONED_MIN_US, FILES_ABANDONED_MAX_US,
             GH_INVALID_ABANDONED),
    GH_BOUND(gh_file_send_config, lease_us, 600000000, GH_FILE_LEASE_MIN_US, GH_FILE_LEASE_MAX_US, GH_INVALID_LEASE)};
static const gh_bounds file_send_bounds = GH_BOUNDS(gh_file_send_config, file_send_bounds_rows);

gh_file_send_config gh_file_send_config_default(void)
{
    gh_file_send_config config;
    gh_bounds_fill(&file_send_bounds, &config);
    return config;
}

static void* send_cut(gh_arena* arena, const void* settings)
{
    const gh_file_send_config* config = (const gh_file_send_config*)settings;
    send_room* room = (send_room*)gh_arena_take_at_64(arena, sizeof(send_room)); /* begins with a stream */
    send_lane* lanes = (send_lane*)gh_arena_take(arena, sizeof(send_lane) * config->lanes);
    uint32_t i;
    for (i = 0; i < config->lanes; i++)
    {
        char* bytes = (char*)gh_arena_take(arena, config->chunk_bytes);
        if (lanes != NULL) lanes[i].bytes = bytes;
    }
    if (room == NULL) return NULL;
    room->lanes = lanes;
    room->config = *config;
    gh_name_keep(&room->channel, config->channel);
    room->config.channel = gh_name_str(&room->channel);
    return room;
}

send_room* gh_files_carve_send(const gh_file_send_config* config)
{
    return (send_room*)gh_arena_cut_from(config->memory, config->memory_size, send_cut, config);
}

/* What a number may be where another one decides, too. */
static gh_status send_check(const gh_file_send_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&file_send_bounds, config, client);
    if (status != GH_OK) return status;
    if (config->cap_bytes < config->chunk_bytes || config->channel_bytes < config->cap_bytes) return GH_INVALID_CAP;
    return config->tick_bytes < config->chunk_bytes ? GH_INVALID_TICK_BYTES : GH_OK;
}

size_t gh_file_send_memory(const gh_file_send_config* config)
{
    return send_check(config, NULL) == GH_OK ? gh_arena_measure(send_cut, config) : 0;
}

static bool send_readers_are_valid(const gh_file_send_config* config)
{
    size_t i;
    size_t j;
    if (config->readers == NULL || config->reader_count == 0 || config->reader_count > GH_FILE_READERS_MAX)
        return false;
    for (i = 0; i < config->reader_count; i++)
    {
        if (!gh_name_is_valid(config->readers[i])) return false;
        for (j = 0; j < i; j++)
            if (gh_str_equal(config->readers[i], config->readers[j])) return false;
    }
    return true;
}

gh_status gh_files_check_send(const gh_file_send_config* config, gh_client* client)
{
    gh_status status = send_check(config, client);
    if (status != GH_OK) return status;
    if (config->channel.size > 0 && !gh_name_is_valid(config->channel)) return GH_INVALID_CHANNEL;
    if (!send_readers_are_valid(config)) return GH_INVALID_READERS;
    return gh_arena_fits(config->memory, config->memory_size, gh_file_send_memory(config)) ? GH_OK : GH_INVALID_MEMORY;
}

/* ---- read ---------------------------------------------------------------------------------------------- */

static const gh_bound file_read_bounds_rows[] = {
    GH_BOUND(gh_file_read_config, chunk_bytes, 16 * 1024, GH_FILE_CHUNK_MIN, GH_FILE_CHUNK_MAX, GH_INVALID_CHUNK),
    GH_BOUND(gh_file_read_config, lanes, 4, 1, GH_FILE_LANES_MAX, GH_INVALID_CHUNK),
    GH_BOUND(gh_file_read_config, line_bytes, 4096, 1, GH_FILE_LINE_MAX, GH_INVALID_LINE),
    GH_BOUND(gh_file_read_config, tick_bytes, 256 * 1024, 1, FILES_TICK_BYTES_MAX, GH_INVALID_TICK_BYTES),
    GH_BOUND(gh_file_read_config, progress_us, 60000000, FILES_TIME_MIN_US, FILES_TIME_MAX_US, GH_INVALID_TIMEOUT)};
static const gh_bounds file_read_bounds = GH_BOUNDS(gh_file_read_config, file_read_bounds_rows);

gh_file_read_config gh_file_read_config_default(void)
{
    gh_file_read_config config;
    gh_bounds_fill(&file_read_bounds, &config);
    return config;
}

static bool read_format_is_there(const gh_file_read_config* config)
{
    return config->format == GH_FILE_PLAIN || (config->format == GH_FILE_GZIP && gh_inflate_is_there());
}

static gh_status read_check(const gh_file_read_config* config, gh_client* client)
{
    const bool is_kept = config != NULL && (config->keep == GH_FILE_AS_READ || config->keep == GH_FILE_AT_END);
    gh_status status = gh_refusal_check(&file_read_bounds, config, client);
    if (status != GH_OK) return status;
    return is_kept && read_format_is_there(config) ? GH_OK : GH_INVALID_FORMAT;
}

static void* read_cut(gh_arena* arena, const void* settings)
{
    const gh_file_read_config* config = (const gh_file_read_config*)settings;
    bool is_gzip = config->format == GH_FILE_GZIP;
    read_room* room = (read_room*)gh_arena_take_at_64(arena, sizeof(read_room)); /* begins with a stream */
    read_lane* lanes = (read_lane*)gh_arena_take(arena, sizeof(read_lane) * config->lanes);
    char* carry = (char*)gh_arena_take(arena, config->line_bytes + 1);
    void* inflate_memory = gh_arena_take(arena, is_gzip ? GH_INFLATE_MEMORY : 0);
    char* unpacked = (char*)gh_arena_take(arena, is_gzip ? GH_FILES_TEXT_BYTES : 0);
    uint32_t i;
    for (i = 0; i < config->lanes; i++)
    {
        char* bytes = (char*)gh_arena_take(arena, config->chunk_bytes);
        if (lanes != NULL) lanes[i].bytes = bytes;
    }
    if (room == NULL) return NULL;
    room->lanes = lanes;
    room->carry = carry;
    room->unpacked = unpacked;
    room->inflate_memory = inflate_memory;
    room->config = *config;
    gh_name_keep(&room->channel, config->channel);
    room->config.channel = gh_name_str(&room->channel);
    return room;
}

read_room* gh_files_carve_read(const gh_file_read_config* config)
{
    return (read_room*)gh_arena_cut_from(config->memory, config->memory_size, read_cut, config);
}

size_t gh_file_read_memory(const gh_file_read_config* config)
{
    return read_check(config, NULL) == GH_OK ? gh_arena_measure(read_cut, config) : 0;
}

gh_status gh_files_check_read(const gh_file_read_config* config, gh_client* client)
{
    gh_status status = read_check(config, client);
    if (status != GH_OK) return status;
    if (config->channel.size > 0 && !gh_name_is_valid(config->channel)) return GH_INVALID_CHANNEL;
    return gh_arena_fits(config->memory, config->memory_size, gh_file_read_memory(config)) ? GH_OK : GH_INVALID_MEMORY;
}
