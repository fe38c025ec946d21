/* files_list.c -- what a channel has, how far a file is, and removing one. */

#include "files_room.h"

#include "client/object.h"
#include "client/question.h"
#include "scripts/files_scripts.h"

#define LIST_WAIT_MAX_US  3600000000ull
#define LIST_TOKEN_US     10000000ull /* a reader asks at least this often, or is not hinted */
#define LIST_HEARTBEAT_US 5000000ull
#define LIST_FIELDS       3u /* of an entry in the reply */
#define LIST_REPLY_ROOM   256u

/* ---- list ---------------------------------------------------------------------------------------------- */

static gh_files_list* files_list_of(gh_op* op)
{
    return (gh_files_list*)(void*)op;
}

/* As many entries as the caller and one reply have room for. */
static uint32_t files_list_count(const gh_files_list* list)
{
    uint32_t by_nodes = (gh_client_reply_nodes(list->op.client) - 8) / LIST_FIELDS;
    uint32_t by_bytes = (gh_client_reply_bytes(list->op.client) - LIST_REPLY_ROOM) / (GH_NAME_SIZE_MAX + 64);
    uint32_t count = list->capacity < by_nodes ? list->capacity : by_nodes;
    return count < by_bytes ? count : by_bytes;
}

static void files_list_encode(gh_op* op, gh_request* request)
{
    const gh_files_list* list = files_list_of(op);
    gh_request_object_script(request, op, gh_files_channel_kind(), gh_name_str(&list->channel), "sflh");
    gh_request_op_id(request, op);
    gh_request_number(request, list->after);
    gh_request_number(request, files_list_count(list));
    gh_request_number(request, list->wait_end_us > gh_client_now(op->client) ? LIST_TOKEN_US : 0);
}

static gh_status files_list_ask(gh_op* op)
{
    const gh_files_list* list = files_list_of(op);
    return gh_question_ask(op, list->timeout_us, list->wait_end_us > 0, 0);
}

/* "<bytes reserved> <id>" */
static bool files_parse_pair(gh_str text, uint64_t* first, uint64_t* second)
{
    uint64_t numbers[2] = {0, 0};
    size_t which = 0;
    size_t digits = 0;
    size_t i;
    for (i = 0; i < text.size; i++)
    {
        char c = text.bytes[i];
        if (c == ' ' && which == 0 && digits > 0)
        {
            which = 1;
            digits = 0;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > 18) return false;
        numbers[which] = numbers[which] * 10 + (uint64_t)(c - '0');
    }
    *first = numbers[0];
    *second = numbers[1];
    return which == 1 && digits > 0;
}

/* False: not of the form of KEYS.md. */
static bool files_list_keep(gh_files_list* list, const gh_reply* number)
{
    const gh_reply* name = number->next;
    const gh_reply* pair = name == NULL ? NULL : name->next;
    gh_file_entry* entry = &list->out[list->count];
    char* bytes = list->names + (size_t)list->count * GH_NAME_SIZE_MAX;
    if (pair == NULL || number->type != GH_REPLY_INTEGER || name->type != GH_REPLY_STRING ||
        pair->type != GH_REPLY_STRING)
        return false;
    if (list->count == list->capacity || number->integer <= 0 || (uint64_t)number->integer >= GH_FILES_ID_MAX)
        return false;
    if (!gh_name_is_valid(name->text) || !files_parse_pair(pair->text, &entry->reserved_bytes, &entry->id))
        return false;
    memcpy(bytes, name->text.bytes, name->text.size);
    entry->name = gh_str_make(bytes, name->text.size);
    entry->number = (uint64_t)number->integer;
    list->count++;
    return true;
}

static gh_status files_listed(gh_op* op, const gh_event* event)
{
    gh_files_list* list = files_list_of(op);
    const gh_reply* at = gh_reply_at(event->reply, GH_FILES_LIST_FILES);
    for (; at != NULL; at = at->next->next->next)
    {
        if (files_list_keep(list, at)) continue;
        list->count = 0;
        return GH_CORRUPT;
    }
    if (list->count > 0) return GH_OK;
    if (list->wait_end_us <= gh_client_now(op->client)) return GH_EMPTY;
    return gh_question_wait(op, &list->polls, LIST_HEARTBEAT_US, list->wait_end_us);
}

/* At the end of its wait it asks once more. */
static void files_list_step(gh_op* op, const gh_event* event)
{
    gh_status status = gh_question_verdict(op, event, GH_FOREVER, files_list_ask);
    if (status != GH_PENDING) gh_op_end(op, status);
}

static const gh_op_kind files_list_kind = {.name = "files",
                                           .step = files_list_step,
                                           .encode = files_list_encode,
                                           .text = &gh_files_list_lua,
                                           .effect = GH_OP_READS,
                                           .answer = files_listed,
                                           .trees = gh_tree_read};

static const gh_bound files_list_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_files_list_config),
    GH_BOUND(gh_files_list_config, wait_us, 0, 0, LIST_WAIT_MAX_US, GH_INVALID_WAIT),
    GH_BOUND(gh_files_list_config, after, 0, 0, GH_FILES_ID_MAX - 1, GH_INVALID_ID)};
static const gh_bounds files_list_bounds = GH_BOUNDS(gh_files_list_config, files_list_bounds_rows);

gh_files_list_config gh_files_list_config_default(void)
{
    gh_files_list_config config;
    gh_bounds_fill(&files_list_bounds, &config);
    return config;
}

static gh_status files_list_try(gh_files_list* op, gh_client* client, gh_str channel,
                                const gh_files_list_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(channel)) return GH_INVALID_CHANNEL;
    status = gh_refusal_check(&files_list_bounds, config, client);
    if (status != GH_OK) return status;
    if (config->entries == NULL || config->names == NULL || config->entry_count == 0 ||
        config->names_size / GH_NAME_SIZE_MAX < config->entry_count)
        return GH_INVALID_BUFFER;
    gh_op_clear(&op->op, sizeof *op);
    op->entries = op->out = config->entries;
    op->names = config->names;
    op->capacity = config->entry_count < GH_FILES_LIST_MAX ? (uint32_t)config->entry_count : GH_FILES_LIST_MAX;
    gh_name_keep(&op->channel, channel);
    op->after = config->after;
    op->timeout_us = config->timeout_us;
    op->wait_end_us = config->wait_us == 0 ? 0 : gh_client_after(client, config->wait_us);
    gh_op_begin(&op->op, client, &files_list_kind);
    files_list_ask(&op->op);
    return GH_OK;
}

gh_status gh_files_list_begin(gh_files_list* op, gh_client* client, gh_str channel, const gh_files_list_config* config)
{
    return gh_op_begun((gh_op*)op, client, files_list_try(op, client, channel, config));
}

/* ---- look ---------------------------------------------------------------------------------------------- */

static gh_file_look* files_look_of(gh_op* op)
{
    return (gh_file_look*)(void*)op;
}

static void files_look_encode(gh_op* op, gh_request* request)
{
    gh_request_object_script(request, op, gh_files_kind(), gh_name_str(&files_look_of(op)->name), "so");
    gh_request_number(request, op->sequence);
}

static gh_status files_looked(gh_op* op, const gh_event* event)
{
    gh_file_look* look = files_look_of(op);
    const gh_reply* reply = event->reply;
    uint32_t i;
    if (gh_reply_integer(reply, GH_FILES_LOOK_CODE) == GH_FILES_LOOK_GONE) return GH_GONE;
    for (i = GH_FILES_LOOK_LEFT; i <= GH_FILES_LOOK_LOST; i++)
        if (gh_reply_integer(reply, i) > GH_FILE_READERS_MAX) return GH_CORRUPT;
    look->id = (uint64_t)gh_reply_integer(reply, GH_FILES_LOOK_ID);
    look->size_bytes = (uint64_t)gh_reply_integer(reply, GH_FILES_LOOK_BYTES);
    look->stored_bytes = (uint64_t)gh_reply_integer(reply, GH_FILES_LOOK_STORED);
    look->readers_left = (uint32_t)gh_reply_integer(reply, GH_FILES_LOOK_LEFT);
    look->readers_done = (uint32_t)gh_reply_integer(reply, GH_FILES_LOOK_DONE);
    look->readers_lost = (uint32_t)gh_reply_integer(reply, GH_FILES_LOOK_LOST);
    look->is_announced = gh_reply_integer(reply, GH_FILES_LOOK_VISIBLE) != 0;
    look->is_sealed = gh_reply_integer(reply, GH_FILES_LOOK_SEALED) != 0;
    look->read_bytes = (uint64_t)gh_reply_integer(reply, GH_FILES_LOOK_READ);
    return GH_OK;
}

static const gh_op_kind files_look_kind = {.name = "files",
                                           .step = gh_call_step,
                                           .encode = files_look_encode,
                                           .text = &gh_files_look_lua,
                                           .effect = GH_OP_READS,
                                           .answer = files_looked};

static const gh_bound file_look_bounds_rows[] = {GH_BOUND_TIMEOUT(gh_file_look_config)};
static const gh_bounds file_look_bounds = GH_BOUNDS(gh_file_look_config, file_look_bounds_rows);

gh_file_look_config gh_file_look_config_default(void)
{
    gh_file_look_config config;
    gh_bounds_fill(&file_look_bounds, &config);
    return config;
}

static gh_status file_look_try(gh_file_look* op, gh_client* client, gh_str name, const gh_file_look_config* config)
{
    gh_file_look_config defaults = gh_file_look_config_default();
    gh_status status;
    if (config == NULL) config = &defaults;
    status = gh_named_check((gh_op*)op, client, name, &file_look_bounds, config);
    if (status != GH_OK) return status;
    gh_op_clear(&op->op, sizeof *op);
    gh_name_keep(&op->name, name);
    gh_call_begin(&op->op, client, &files_look_kind, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_file_look_begin(gh_file_look* op, gh_client* client, gh_str name, const gh_file_look_config* config)
{
    return gh_op_begun((gh_op*)op, client, file_look_try(op, client, name, config));
}

/* ---- remove: first the file, then its place in the channel --------------------------------------------- */

typedef enum files_remove_state
{
    FILES_REMOVING = 0,
    FILES_WITHDRAWING
} files_remove_state;

static gh_file_remove* files_remove_of(gh_op* op)
{
    return (gh_file_remove*)(void*)op;
}

static gh_script* files_remove_script(gh_op* op)
{
    bool withdraws = op->state == FILES_WITHDRAWING;
    return gh_client_script(op->client, withdraws ? &gh_files_withdraw_lua : &gh_files_remove_lua);
}

static void files_remove_encode(gh_op* op, gh_request* request)
{
    const gh_file_remove* removal = files_remove_of(op);
    if (op->state == FILES_WITHDRAWING)
    {
        gh_files_encode_withdraw(op, request, gh_name_str(&removal->channel), gh_name_str(&removal->name), removal->id);
        return;
    }
    gh_request_object_script(request, op, gh_files_kind(), gh_name_str(&removal->name), "scoe");
    gh_request_number(request, op->sequence);
    gh_request_number(request, removal->id);
}

static gh_status files_removed(gh_op* op, const gh_event* event)
{
    const gh_file_remove* removal = files_remove_of(op);
    bool is_gone_now;
    if (op->state == FILES_WITHDRAWING || removal->channel.size == 0) return GH_OK;
    is_gone_now = gh_reply_integer(event->reply, GH_FILES_REMOVE_CODE) == GH_FILES_REMOVE_DONE;
    op->state = FILES_WITHDRAWING;
    gh_op_send(op, is_gone_now ? GH_OP_MAYBE : op->flags & GH_OP_MAYBE);
    return GH_PENDING;
}

static const gh_op_kind files_remove_kind = {.name = "files",
                                             .step = gh_call_step,
                                             .encode = files_remove_encode,
                                             .script = files_remove_script,
                                             .effect = GH_OP_CHANGES,
                                             .answer = files_removed};

static const gh_bound file_remove_bounds_rows[] = {GH_BOUND_TIMEOUT(gh_file_remove_config)};
static const gh_bounds file_remove_bounds = GH_BOUNDS(gh_file_remove_config, file_remove_bounds_rows);

gh_file_remove_config gh_file_remove_config_default(void)
{
    gh_file_remove_config config;
    gh_bounds_fill(&file_remove_bounds, &config);
    return config;
}

static gh_status file_remove_try(gh_file_remove* op, gh_client* client, gh_str name, uint64_t id, gh_str channel,
                                 const gh_file_remove_config* config)
{
    gh_file_remove_config defaults = gh_file_remove_config_default();
    gh_status status;
    if (config == NULL) config = &defaults;
    status = gh_named_check((gh_op*)op, client, name, &file_remove_bounds, config);
    if (status != GH_OK) return status;
    if (channel.size > 0 && !gh_name_is_valid(channel)) return GH_INVALID_CHANNEL;
    if (id == 0 || id >= GH_FILES_ID_MAX) return GH_INVALID_ID;
    gh_name_keep(&op->name, name);
    gh_name_keep(&op->channel, channel);
    op->id = id;
    gh_call_begin(&op->op, client, &files_remove_kind, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_file_remove_begin(gh_file_remove* op, gh_client* client, gh_str name, uint64_t id, gh_str channel,
                               const gh_file_remove_config* config)
{
    return gh_op_begun((gh_op*)op, client, file_remove_try(op, client, name, id, channel, config));
}
