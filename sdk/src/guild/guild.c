/* guild.c -- guilds: members come and go, and are found by the beginnings of their names. */

#include "guildhall/guild.h"

#include "client/object.h"
#include "scripts/guild_scripts.h"
#include "wire/name.h"

#define GUILD_CAPACITY   5000u
#define GUILD_LIMIT      10u
#define GUILD_KEYS       2u                      /* of a join                                                    */
#define GUILD_NUMBERS    5u                      /* of a join                                                    */
#define GUILD_HAS_ROOM   1024u                   /* of a request: command, key                                   */
#define GUILD_REPLY_ROOM 512u                    /* of a reply                                                   */
#define GUILD_BYTES_MAX  (2u * GH_NAME_SIZE_MAX) /* of a hit: name and id                        */
#define GUILD_BOUND_MAX  (2u * GH_FOLDED_SIZE_MAX)

static const gh_str guild_kind_name = {"guild", 5};

/* ---- a guild --------------------------------------------------------------------------------------------------- */

static const gh_bound guild_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_guild_config),
    GH_BOUND(gh_guild_config, capacity, GUILD_CAPACITY, 1, GH_GUILD_CAPACITY_MAX, GH_INVALID_GUILD_CAPACITY)};
static const gh_bounds guild_bounds = GH_BOUNDS(gh_guild_config, guild_bounds_rows);

gh_guild_config gh_guild_config_default(void)
{
    gh_guild_config config;
    gh_bounds_fill(&guild_bounds, &config);
    config.fold = gh_fold_ascii;
    return config;
}

gh_status gh_guild_init(gh_guild* guild, gh_client* client, gh_str name, const gh_guild_config* config)
{
    const gh_guild_config usual = gh_guild_config_default();
    if (config == NULL) config = &usual;
    return gh_object_init((gh_object*)guild, client, name, &guild_bounds, config, offsetof(gh_guild, config));
}

/* ---- join and leave -------------------------------------------------------------------------------------------- */

static gh_guild_change* guild_change_of(gh_op* op)
{
    return (gh_guild_change*)(void*)op;
}

static gh_script* guild_change_script(gh_op* op)
{
    return gh_client_script(op->client, guild_change_of(op)->leaves ? &gh_guild_leave_lua : &gh_guild_join_lua);
}

static void guild_change_encode(gh_op* op, gh_request* request)
{
    const gh_guild_change* change = guild_change_of(op);
    char folded[GH_FOLDED_SIZE_MAX];
    uint32_t i;
    gh_request_marked_script(request, op, 3u * change->count, guild_kind_name, gh_name_str(&change->guild), "m");
    if (gh_request_is_route(request)) return;
    if (!change->leaves) gh_request_number(request, change->capacity);
    for (i = 0; i < change->count; i++)
    {
        const gh_guild_member* member = &change->members[i];
        size_t size = gh_fold_apply(change->fold, change->fold_context, member->name, folded);
        gh_request_str(request, gh_str_make(folded, size));
        gh_request_str(request, member->name);
        gh_request_str(request, member->id);
    }
}

/* GH_PENDING for a letter that is none. */
static gh_status guild_status_of(char letter)
{
    switch (letter)
    {
    case GH_GUILD_JOIN_JOINED:
    case GH_GUILD_LEAVE_LEFT: return GH_OK;
    case GH_GUILD_JOIN_MEMBER: return GH_EXISTS;
    case GH_GUILD_LEAVE_NO_MEMBER: return GH_NOT_MEMBER;
    case GH_GUILD_JOIN_FULL: return GH_FULL;
    default: return GH_PENDING;
    }
}

static gh_status guild_change_answer(gh_op* op, const gh_event* event)
{
    gh_guild_change* change = guild_change_of(op);
    uint64_t size = (uint64_t)gh_reply_integer(event->reply, GH_GUILD_MEMBERS_MEMBERS);
    gh_str letters = gh_reply_text(event->reply, GH_GUILD_MEMBERS_LETTERS);
    gh_status result = GH_OK;
    uint32_t i;
    switch (gh_reply_integer(event->reply, GH_GUILD_MEMBERS_CODE))
    {
    case GH_GUILD_MEMBERS_DONE: break;
    case GH_GUILD_MEMBERS_OLD:
        return gh_op_outcome(op, GH_REASON_CORRUPT); /* our row of changes has sent nothing later */
    default: return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
    if (letters.size != change->count || size > GH_GUILD_CAPACITY_MAX) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    change->size = (uint32_t)size;
    for (i = 0; i < change->count; i++)
    {
        gh_status status = guild_status_of(letters.bytes[i]);
        if (status == GH_PENDING) return gh_op_outcome(op, GH_REASON_UNUSABLE);
        change->members[i].status = status;
        if (status == GH_FULL) result = status;
    }
    return result;
}

static const gh_op_kind guild_change_kind = {.name = "guild",
                                             .borrows = true,
                                             .step = gh_gate_call_step,
                                             .gate_at = offsetof(gh_guild_change, gate),
                                             .encode = guild_change_encode,
                                             .script = guild_change_script,
                                             .effect = GH_OP_CHANGES,
                                             .answer = guild_change_answer};

static bool guild_id_is_valid(gh_str id)
{
    return id.size <= GH_NAME_SIZE_MAX && (id.bytes != NULL || id.size == 0);
}

static bool guild_members_are_valid(const gh_guild_member* members, size_t count)
{
    size_t i;
    if (members == NULL || count == 0 || count > GH_GUILD_MEMBERS_MAX) return false;
    for (i = 0; i < count; i++)
        if (!gh_name_is_valid(members[i].name) || !guild_id_is_valid(members[i].id)) return false;
    return true;
}

static size_t guild_members_size(const gh_guild_member* members, size_t count)
{
    size_t size = 0;
    size_t i;
    for (i = 0; i < count; i++)
        size += gh_request_str_size(GH_FOLDED_SIZE_MAX) + gh_request_str_size(members[i].name.size) +
                gh_request_str_size(members[i].id.size);
    return size;
}

static gh_status guild_change_try(gh_guild_change* op, const gh_guild* guild, gh_guild_member* members, size_t count,
                                  bool leaves)
{
    size_t room;
    size_t i;
    gh_client* client;
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)guild);
    if (status != GH_OK) return status;
    client = guild->object.client;
    if (!guild_members_are_valid(members, count)) return GH_INVALID_MEMBERS;
    room = gh_object_script_room(&guild->object, guild_kind_name, GUILD_KEYS, GUILD_NUMBERS);
    if (guild_members_size(members, count) > room) return GH_TOO_LARGE;
    op->size = 0;
    op->guild = guild->object.name;
    op->members = members;
    op->fold = guild->config.fold;
    op->fold_context = guild->config.fold_context;
    op->capacity = guild->config.capacity;
    op->count = (uint8_t)count;
    op->leaves = leaves;
    for (i = 0; i < count; i++) members[i].status = GH_PENDING;
    gh_gate_call_begin(&op->op, client, &guild_change_kind, guild->config.timeout_us,
                       gh_gate_object(client, guild_kind_name, gh_name_str(&op->guild)));
    return GH_OK;
}

gh_status gh_guild_join_begin(gh_guild_change* op, const gh_guild* guild, gh_guild_member* members, size_t count)
{
    gh_status status = guild_change_try(op, guild, members, count, false);
    return gh_object_begun((gh_op*)op, (const gh_object*)guild, status);
}

gh_status gh_guild_leave_begin(gh_guild_change* op, const gh_guild* guild, gh_guild_member* members, size_t count)
{
    gh_status status = guild_change_try(op, guild, members, count, true);
    return gh_object_begun((gh_op*)op, (const gh_object*)guild, status);
}

/* ---- members as bytes ------------------------------------------------------------------------------------------

   "<folded><0><0><name>", "<folded><0><0><name><0><0><id>": guild_join.lua says how. The bytes keep the order of the
   folded names, and a name begins with a prefix exactly if its bytes begin with the prefix's.                        */

/* Zero bytes get a 255 behind them. At most twice as long. */
static size_t guild_escape(const char* bytes, size_t size, char* out)
{
    size_t written = 0;
    size_t i;
    for (i = 0; i < size; i++)
    {
        out[written++] = bytes[i];
        if (bytes[i] == 0) out[written++] = (char)0xff;
    }
    return written;
}

/* Takes the text up to the next two zero bytes, or to the end, away from the front. False: it is longer than room, or a
   zero byte stands alone. */
static bool guild_unescape(gh_str* rest, char* out, size_t room, size_t* size)
{
    *size = 0;
    for (;;)
    {
        const char* zero = rest->size == 0 ? NULL : (const char*)memchr(rest->bytes, 0, rest->size);
        size_t piece = zero == NULL ? rest->size : (size_t)(zero - rest->bytes);
        bool escaped = zero != NULL && piece + 1 < rest->size && (unsigned char)zero[1] == 0xff;
        size_t length = escaped ? piece + 1 : piece; /* the zero byte itself is part of the text */
        if (length > room - *size) return false;
        if (length > 0) memcpy(out + *size, rest->bytes, length);
        *size += length;
        if (zero != NULL && !escaped && (piece + 1 == rest->size || zero[1] != 0)) return false;
        piece = zero == NULL ? rest->size : piece + 2;
        *rest = gh_str_make(rest->bytes + piece, rest->size - piece);
        if (!escaped) return true;
    }
}

/* Copies name and id to out, which has room for GUILD_BYTES_MAX. False: not of that form. */
static bool guild_parse(gh_str member, char* out, gh_guild_hit* hit)
{
    char folded[GH_FOLDED_SIZE_MAX];
    size_t folded_size;
    size_t size;
    if (member.size > GH_GUILD_CURSOR_SIZE_MAX) return false;
    if (!guild_unescape(&member, folded, sizeof folded, &folded_size)) return false;
    if (!guild_unescape(&member, out, GH_NAME_SIZE_MAX, &size)) return false;
    if (size == 0)
    {
        if (folded_size == 0 || folded_size > GH_NAME_SIZE_MAX) return false;
        memcpy(out, folded, folded_size);
        size = folded_size;
    }
    if (member.size > GH_NAME_SIZE_MAX) return false;
    if (member.size > 0) memcpy(out + size, member.bytes, member.size);
    hit->name = gh_str_make(out, size);
    hit->id = gh_str_make(out + size, member.size);
    return true;
}

/* The member's bytes, as guild_join.lua puts them together. */
static gh_str guild_member_bytes(const gh_guild_member* member, gh_fold fold, void* context,
                                 char out[GH_GUILD_CURSOR_SIZE_MAX])
{
    char folded[GH_FOLDED_SIZE_MAX];
    size_t folded_size = gh_fold_apply(fold, context, member->name, folded);
    size_t size = guild_escape(folded, folded_size, out);
    out[size++] = 0;
    out[size++] = 0;
    if (!gh_str_equal(gh_str_make(folded, folded_size), member->name))
        size += guild_escape(member->name.bytes, member->name.size, out + size);
    if (member->id.size > 0)
    {
        out[size++] = 0;
        out[size++] = 0;
        memcpy(out + size, member->id.bytes, member->id.size);
        size += member->id.size;
    }
    return gh_str_make(out, size);
}

/* ---- complete and next ----------------------------------------------------------------------------------------- */

static gh_guild_search* guild_search_of(gh_op* op)
{
    return (gh_guild_search*)(void*)op;
}

/* The buffer: [ cursor | bound | hits | name and id of hit 0 | of hit 1 | ... ] */
static char* guild_bound_bytes(const gh_guild_search* search)
{
    return search->buffer + GH_GUILD_CURSOR_SIZE_MAX;
}

static gh_guild_hit* guild_hits(const gh_guild_search* search)
{
    return (gh_guild_hit*)(void*)(search->buffer + GH_GUILD_HEAD_SIZE);
}

static char* guild_hit_bytes(const gh_guild_search* search, uint32_t i)
{
    return search->buffer + GH_GUILD_HEAD_SIZE + search->limit * sizeof(gh_guild_hit) + (size_t)i * GUILD_BYTES_MAX;
}

/* What every member that is sought begins with. */
static void guild_set_bound(gh_guild_search* search, gh_str prefix, const gh_guild_config* config)
{
    char folded[GH_FOLDED_SIZE_MAX];
    size_t size = gh_fold_apply(config->fold, config->fold_context, prefix, folded);
    search->bound = gh_str_make(guild_bound_bytes(search), guild_escape(folded, size, guild_bound_bytes(search)));
}

/* The least bytes that are beyond everything that begins with the bound: its last byte plus one. A byte of 255 has no
   next one, so the byte before it is counted up. Empty: nothing is beyond. */
static gh_str guild_successor(gh_str bound, char out[GUILD_BOUND_MAX])
{
    size_t size = bound.size;
    while (size > 0 && (unsigned char)bound.bytes[size - 1] == 0xff) size--;
    if (size == 0) return gh_str_make("", 0);
    memcpy(out, bound.bytes, size);
    out[size - 1] = (char)((unsigned char)out[size - 1] + 1);
    return gh_str_make(out, size);
}

/* One more than is wanted, to know whether there are more; as far as one reply can take them. */
static uint32_t guild_page_size(const gh_guild_search* search)
{
    size_t wanted = search->limit - search->count + 1;
    size_t nodes = gh_client_reply_nodes(search->op.client) - 1;
    size_t fitting = (gh_client_reply_bytes(search->op.client) - GUILD_REPLY_ROOM) / (GH_GUILD_CURSOR_SIZE_MAX + 1);
    if (fitting > nodes) fitting = nodes;
    return (uint32_t)(wanted < fitting ? wanted : fitting);
}

/* "(bytes": beyond them; "[bytes": from them on; a sign of its own if there are none. */
static void guild_encode_end(gh_request* request, gh_str mark, gh_str bytes, gh_str none)
{
    if (bytes.size > 0) gh_request_joined(request, mark, bytes);
    else gh_request_str(request, none);
}

/* ZRANGE key from to BYLEX LIMIT 0 count: no script, as it is one command that reads. */
static void guild_search_encode(gh_op* op, gh_request* request)
{
    const gh_guild_search* search = guild_search_of(op);
    char bytes[GUILD_BOUND_MAX];
    gh_request_array(request, 8);
    gh_request_str(request, gh_str_literal("ZRANGE"));
    gh_request_object_keys(request, op->client, guild_kind_name, gh_name_str(&search->guild), "m");
    if (search->cursor.size > 0) gh_request_joined(request, gh_str_literal("("), search->cursor);
    else guild_encode_end(request, gh_str_literal("["), search->bound, gh_str_literal("-"));
    guild_encode_end(request, gh_str_literal("("), guild_successor(search->bound, bytes), gh_str_literal("+"));
    gh_request_str(request, gh_str_literal("BYLEX"));
    gh_request_str(request, gh_str_literal("LIMIT"));
    gh_request_number(request, 0);
    gh_request_number(request, guild_page_size(search));
}

static void guild_keep_cursor(gh_guild_search* search, gh_str member)
{
    if (member.size > 0) memmove(search->buffer, member.bytes, member.size);
    search->cursor = gh_str_make(search->buffer, member.size);
}

static gh_status guild_search_answer(gh_op* op, const gh_event* event)
{
    gh_guild_search* search = guild_search_of(op);
    const gh_reply* value = event->reply->first;
    const gh_reply* last = NULL;
    uint32_t asked = guild_page_size(search);
    uint32_t came = 0;
    for (; value != NULL && search->count < search->limit; value = value->next, came++)
    {
        gh_guild_hit* hit = guild_hits(search) + search->count;
        if (value->type != GH_REPLY_STRING) return gh_op_outcome(op, GH_REASON_UNUSABLE);
        if (!guild_parse(value->text, guild_hit_bytes(search, search->count), hit))
            return gh_op_outcome(op, GH_REASON_CORRUPT);
        last = value;
        search->count++;
    }
    if (last != NULL) guild_keep_cursor(search, last->text);
    search->more = value != NULL;
    if (value == NULL && came == asked) /* all that was asked for: there may be more */
    {
        gh_op_send(op, 0);
        return GH_PENDING;
    }
    search->paged = search->count > 0;
    return search->paged ? GH_OK : GH_EMPTY;
}

static const gh_op_kind guild_search_kind = {.name = "guild",
                                             .step = gh_call_step,
                                             .encode = guild_search_encode,
                                             .effect = GH_OP_READS,
                                             .answer = guild_search_answer,
                                             .answers_array = true,
                                             .trees = gh_tree_read};

static const gh_bound guild_search_bounds_rows[] = {
    GH_BOUND(gh_guild_search_config, limit, GUILD_LIMIT, 1, GH_GUILD_LIMIT_MAX, GH_INVALID_LIMIT)};
static const gh_bounds guild_search_bounds = GH_BOUNDS(gh_guild_search_config, guild_search_bounds_rows);

gh_guild_search_config gh_guild_search_config_default(void)
{
    gh_guild_search_config config;
    gh_bounds_fill(&guild_search_bounds, &config);
    return config;
}

static gh_status guild_check_search(const gh_guild_search_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&guild_search_bounds, config, client);
    if (status != GH_OK) return status;
    if (config->after.size > GH_GUILD_CURSOR_SIZE_MAX) return GH_INVALID_GUILD_CURSOR;
    if (config->after.size > 0 && config->after.bytes == NULL) return GH_INVALID_GUILD_CURSOR;
    if (config->buffer == NULL || ((uintptr_t)config->buffer & 7) != 0) return GH_INVALID_BUFFER;
    return config->buffer_size < GH_GUILD_BUFFER_SIZE(config->limit) ? GH_INVALID_BUFFER : GH_OK;
}

static void guild_search_start(gh_guild_search* op, const gh_guild* guild)
{
    op->count = 0;
    op->more = op->paged = false;
    gh_call_begin(&op->op, guild->object.client, &guild_search_kind, guild->config.timeout_us, 0);
}

/* A cursor in front of the first that is sought says nothing. */
static void guild_drop_early_cursor(gh_guild_search* op)
{
    size_t size = op->bound.size < op->cursor.size ? op->bound.size : op->cursor.size;
    int order = size == 0 ? 0 : memcmp(op->cursor.bytes, op->bound.bytes, size);
    if (order < 0 || (order == 0 && op->cursor.size < op->bound.size)) op->cursor.size = 0;
}

static gh_status guild_complete_try(gh_guild_search* op, const gh_guild* guild, gh_str prefix,
                                    const gh_guild_search_config* config)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)guild);
    if (status != GH_OK) return status;
    if (prefix.size > GH_NAME_SIZE_MAX || (prefix.bytes == NULL && prefix.size > 0)) return GH_INVALID_GUILD_PREFIX;
    status = guild_check_search(config, guild->object.client);
    if (status != GH_OK) return status;
    op->guild = guild->object.name;
    op->buffer = (char*)config->buffer;
    op->limit = config->limit;
    op->hits = guild_hits(op);
    guild_keep_cursor(op, config->after);
    guild_set_bound(op, prefix, &guild->config);
    guild_drop_early_cursor(op);
    guild_search_start(op, guild);
    return GH_OK;
}

gh_status gh_guild_complete_begin(gh_guild_search* op, const gh_guild* guild, gh_str prefix,
                                  const gh_guild_search_config* config)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)guild, guild_complete_try(op, guild, prefix, config));
}

static gh_status guild_next_try(gh_guild_search* op, const gh_guild* guild)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)guild);
    if (status != GH_OK) return status;
    if (!op->paged || !gh_str_equal(gh_name_str(&op->guild), gh_name_str(&guild->object.name)))
        return GH_INVALID_GUILD_CURSOR;
    guild_search_start(op, guild);
    return GH_OK;
}

gh_status gh_guild_next_begin(gh_guild_search* op, const gh_guild* guild)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)guild, guild_next_try(op, guild));
}

/* ---- has ------------------------------------------------------------------------------------------------------- */

static gh_guild_has* guild_has_of(gh_op* op)
{
    return (gh_guild_has*)(void*)op;
}

/* Of those that have no answer yet, as many as one request and its reply can take. */
static uint32_t guild_has_next(const gh_guild_has* has)
{
    size_t wanted = (size_t)(has->count - has->asked);
    size_t nodes = gh_client_reply_nodes(has->op.client) - 1;
    size_t room = gh_client_out_room(has->op.client) - GUILD_HAS_ROOM;
    size_t fitting = room / gh_request_str_size(GH_GUILD_CURSOR_SIZE_MAX);
    if (fitting > nodes) fitting = nodes;
    return (uint32_t)(wanted < fitting ? wanted : fitting);
}

/* ZMSCORE key member ...: no script, as it is one command that reads. */
static void guild_has_encode(gh_op* op, gh_request* request)
{
    const gh_guild_has* has = guild_has_of(op);
    const bool sums = gh_request_is_sum(request);
    const uint32_t from = sums ? 0 : has->asked;
    const uint32_t count = sums ? has->count : guild_has_next(has);
    char bytes[GH_GUILD_CURSOR_SIZE_MAX];
    uint32_t i;
    gh_request_array(request, 2 + count);
    gh_request_str(request, gh_str_literal("ZMSCORE"));
    gh_request_object_keys(request, op->client, guild_kind_name, gh_name_str(&has->guild), "m");
    if (gh_request_is_route(request)) return;
    for (i = from; i < from + count; i++)
        gh_request_str(request, guild_member_bytes(&has->members[i], has->fold, has->fold_context, bytes));
}

static gh_status guild_has_answer(gh_op* op, const gh_event* event)
{
    gh_guild_has* has = guild_has_of(op);
    const gh_reply* score = event->reply->first;
    if (event->reply->count != guild_has_next(has)) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (; score != NULL; score = score->next)
        if (score->type != GH_REPLY_NIL && score->type != GH_REPLY_STRING) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (score = event->reply->first; score != NULL; score = score->next, has->asked++)
    {
        bool is_member = score->type == GH_REPLY_STRING;
        has->members[has->asked].status = is_member ? GH_OK : GH_NOT_MEMBER;
        if (is_member) has->found++;
    }
    if (has->asked == has->count) return GH_OK;
    gh_op_send(op, 0);
    return GH_PENDING;
}

static const gh_op_kind guild_has_kind = {.name = "guild",
                                          .borrows = true,
                                          .step = gh_call_step,
                                          .encode = guild_has_encode,
                                          .effect = GH_OP_READS,
                                          .answer = guild_has_answer,
                                          .answers_array = true,
                                          .trees = gh_tree_read};

static gh_status guild_has_try(gh_guild_has* op, const gh_guild* guild, gh_guild_member* members, size_t count)
{
    size_t i;
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)guild);
    if (status != GH_OK) return status;
    if (!guild_members_are_valid(members, count)) return GH_INVALID_MEMBERS;
    op->found = 0;
    op->guild = guild->object.name;
    op->members = members;
    op->fold = guild->config.fold;
    op->fold_context = guild->config.fold_context;
    op->count = (uint8_t)count;
    op->asked = 0;
    for (i = 0; i < count; i++) members[i].status = GH_PENDING;
    gh_call_begin(&op->op, guild->object.client, &guild_has_kind, guild->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_guild_has_begin(gh_guild_has* op, const gh_guild* guild, gh_guild_member* members, size_t count)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)guild, guild_has_try(op, guild, members, count));
}

/* ---- size ------------------------------------------------------------------------------------------------------ */

static gh_guild_size* guild_size_of(gh_op* op)
{
    return (gh_guild_size*)(void*)op;
}

static void guild_size_encode(gh_op* op, gh_request* request)
{
    gh_request_array(request, 2);
    gh_request_str(request, gh_str_literal("ZCARD"));
    gh_request_object_keys(request, op->client, guild_kind_name, gh_name_str(&guild_size_of(op)->guild), "m");
}

static gh_status guild_size_answer(gh_op* op, const gh_event* event)
{
    const gh_reply* reply = event->reply;
    if (reply->type != GH_REPLY_INTEGER || reply->integer < 0 || reply->integer > UINT32_MAX)
        return gh_op_outcome(op, GH_REASON_UNUSABLE);
    guild_size_of(op)->size = (uint32_t)reply->integer;
    return GH_OK;
}

static const gh_op_kind guild_size_kind = {.name = "guild",
                                           .step = gh_call_step,
                                           .encode = guild_size_encode,
                                           .effect = GH_OP_READS,
                                           .trees = gh_tree_read,
                                           .answer = guild_size_answer};

static gh_status guild_size_try(gh_guild_size* op, const gh_guild* guild)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)guild);
    if (status != GH_OK) return status;
    op->size = 0;
    op->guild = guild->object.name;
    gh_call_begin(&op->op, guild->object.client, &guild_size_kind, guild->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_guild_size_begin(gh_guild_size* op, const gh_guild* guild)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)guild, guild_size_try(op, guild));
}
