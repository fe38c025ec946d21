/* command_calls.c -- commands and scripts of the caller's own, fenced or not, once or as often as they come. */

#include "guildhall/command.h"

#include "base/least.h"
#include "client/op.h"
#include "client/refusal.h"
#include "scripts/command_scripts.h"
#include "wire/format.h"
#include "wire/name.h"
#include "wire/reply_class.h"

#define TIMEOUT_MAX_US   3600000000ull
#define SCRIPT_ROOM      2048u       /* digest, keys, and the headers around them */
#define ONCE_ROOM        2048u       /* what stands around a text that runs once */
#define RECEIPT_ROOM     96u         /* what a receipt's key has on the wire, besides the key that it lies beside */
#define RECEIPT_SPARE_US 60000000ull /* it lives longer: the clock of the next server may be ahead by so much */

static const gh_bound command_bounds_rows[] = {GH_BOUND(gh_command_config, timeout_us, GH_TIMEOUT_USUAL_US,
                                                        GH_TIMEOUT_LEAST_US, TIMEOUT_MAX_US, GH_INVALID_TIMEOUT)};
static const gh_bounds command_bounds = GH_BOUNDS(gh_command_config, command_bounds_rows);

gh_command_config gh_command_config_default(void)
{
    gh_command_config config;
    gh_bounds_fill(&command_bounds, &config);
    config.wait_replicas = GH_REPLICAS_AS_CLIENT;
    return config;
}

static gh_command* command_of(gh_op* op)
{
    return (gh_command*)(void*)op;
}

/* ---- the reply, copied into the caller's memory ------------------------------------------------------------------ */

typedef struct reply_copy
{
    char* at;
    char* end;
    size_t needed;
} reply_copy;

static size_t round_up(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static void* copy_room(reply_copy* copy, size_t size)
{
    void* room = copy->at;
    copy->needed += round_up(size);
    if (copy->at == NULL || (size_t)(copy->end - copy->at) < round_up(size))
    {
        copy->at = NULL; /* from here on only count */
        return NULL;
    }
    copy->at += round_up(size);
    return room;
}

/* The line OK is the most common answer of all and needs no memory. */
static gh_str copy_text(reply_copy* copy, gh_str text)
{
    char* room;
    if (gh_str_equal(text, gh_str_literal("OK"))) return gh_str_literal("OK");
    if (text.size == 0) return gh_str_literal("");
    room = (char*)copy_room(copy, text.size);
    if (room == NULL) return gh_str_make("", 0);
    memcpy(room, text.bytes, text.size);
    return gh_str_make(room, text.size);
}

static void copy_value(reply_copy* copy, const gh_reply* from, gh_reply* to);

static const gh_reply* copy_elements(reply_copy* copy, const gh_reply* from)
{
    const gh_reply* first = NULL;
    gh_reply* last = NULL;
    for (; from != NULL; from = from->next)
    {
        gh_reply unused;
        gh_reply* value = (gh_reply*)copy_room(copy, sizeof(gh_reply));
        copy_value(copy, from, value == NULL ? &unused : value);
        if (value == NULL) continue;
        if (last == NULL) first = value;
        else last->next = value;
        last = value;
    }
    return first;
}

/* Recursion is as deep as the reader lets a reply be: seven levels. */
static void copy_value(reply_copy* copy, const gh_reply* from, gh_reply* to)
{
    *to = *from;
    to->next = NULL;
    to->text = gh_str_make("", 0);
    if (from->type == GH_REPLY_ARRAY) to->first = copy_elements(copy, from->first);
    if (from->type == GH_REPLY_STRING || from->type == GH_REPLY_STATUS || from->type == GH_REPLY_ERROR)
        to->text = copy_text(copy, from->text);
}

static bool keep_reply_in(gh_command* command, const gh_reply* reply, void* memory, size_t size)
{
    reply_copy copy;
    copy.at = (char*)memory;
    copy.end = copy.at == NULL ? NULL : copy.at + size;
    copy.needed = 0;
    copy_value(&copy, reply, &command->reply);
    command->reply_needed = copy.needed;
    return copy.needed <= size;
}

/* False: it does not fit, and reply_needed says what would. */
static bool keep_reply(gh_command* command, const gh_reply* reply)
{
    return keep_reply_in(command, reply, command->inside, sizeof command->inside) ||
           keep_reply_in(command, reply, command->reply_memory, command->reply_size);
}

/* An error is kept as far as it fits: its first word says the most. */
static void keep_error(gh_command* command, const gh_reply* reply)
{
    gh_reply cut = *reply;
    size_t room = command->reply_size & ~(size_t)7;
    if (room < sizeof command->inside) room = sizeof command->inside;
    if (cut.text.size > room) cut.text.size = room;
    keep_reply(command, &cut);
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static bool is_fenced(const gh_command* command)
{
    return command->fence_name.size > 0;
}

static bool runs_once(const gh_command* command)
{
    return command->script != NULL && command->script->behind != NULL;
}

static void encode_strings(gh_request* request, const gh_str* strings, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++) gh_request_str(request, strings[i]);
}

/* Each word of a line has its size in front, two bytes of it. */
static gh_str line_word(const char* at)
{
    const unsigned char* size = (const unsigned char*)at;
    return gh_str_make(at + 2, (size_t)size[0] << 8 | size[1]);
}

static void encode_arguments(gh_request* request, const gh_command* command)
{
    const char* at = command->line;
    uint32_t i;
    if (at == NULL)
    {
        encode_strings(request, command->arguments, command->argument_count);
        return;
    }
    for (i = 0; i < command->argument_count; i++)
    {
        gh_str word = line_word(at);
        gh_request_str(request, word);
        at = word.bytes + word.size;
    }
}

/* Of a command, the word behind its name: that is where nearly all have it. */
static gh_str first_key(const gh_command* command)
{
    gh_str name;
    if (command->key_count > 0) return command->keys[0];
    if (command->line == NULL) return command->arguments[1];
    name = line_word(command->line);
    return line_word(name.bytes + name.size);
}

static const char* find_brace(gh_str key, const char* from, char brace)
{
    if (from == NULL || key.size == 0) return NULL;
    return (const char*)memchr(from, brace, (size_t)(key.bytes + key.size - from));
}

/* A Cluster takes the slot of such a key from what is between its first braces. */
static bool has_slot_tag(gh_str key)
{
    return find_brace(key, find_brace(key, key.bytes, '{'), '}') != NULL;
}

/* "<key>:once:<token>"; or "{<key>}:once:<token>", which lies in the slot of a key without a tag. */
static void encode_receipt_key(gh_request* request, const gh_command* command)
{
    const gh_str middle = gh_str_literal(":once:");
    const gh_str key = first_key(command);
    const bool braced = !has_slot_tag(key);
    char* at = gh_request_bulk(request, key.size + middle.size + GH_TOKEN_SIZE + (braced ? 2u : 0u));
    if (at == NULL) return;
    if (braced) *at++ = '{';
    if (key.size > 0) memcpy(at, key.bytes, key.size);
    at += key.size;
    if (braced) *at++ = '}';
    memcpy(at, middle.bytes, middle.size);
    gh_token_encode(gh_client_id(command->op.client), command->op.sequence, at + middle.size);
}

/* From the first copy on it stays as it is: no copy is carried out after its receipt has gone. */
static void encode_once(gh_request* request, gh_command* command)
{
    gh_client* client = command->op.client;
    const uint64_t timeout_us = gh_client_request_timeout(client);
    uint64_t until_us = command->once_until_us;
    if (until_us == 0) until_us = gh_op_store_time(&command->op, command->op.due_us + timeout_us + RECEIPT_SPARE_US);
    gh_request_number(request, command->op.sequence);
    gh_request_number(request, gh_least(gh_op_not_after(&command->op), until_us));
    gh_request_number(request, until_us / 1000 + 1);
    if (!request->full) command->once_until_us = until_us;
}

/* A Cluster looks at the keys that a script declares, and at no others, before it lets it run while their slot moves:
   so a command that a script carries out declares its own. What a caller's script is given, its caller says. */
static bool declares_word(const gh_command* command)
{
    const bool is_command = command->script->own != NULL;
    return is_command && command->argument_count > 1 && gh_op_is_clustered(&command->op);
}

static void encode_run(gh_request* request, gh_command* command)
{
    gh_client* client = command->op.client;
    const bool fenced = is_fenced(command);
    const bool once = runs_once(command);
    const bool declares = declares_word(command);
    const uint32_t keys = command->key_count + (fenced ? 1u : 0u) + (declares ? 1u : 0u);
    uint32_t i;
    const uint32_t arguments = command->argument_count + (fenced ? 1u : 0u);
    gh_request_script(request, command->script, keys, arguments);
    if (once) encode_receipt_key(request, command);
    if (fenced) gh_request_object_keys(request, client, gh_str_literal("lock"), gh_name_str(&command->fence_name), "s");
    for (i = 0; i < command->key_count; i++) gh_request_key(request, command->keys[i]);
    if (declares && !gh_request_is_sum(request)) gh_request_key(request, first_key(command));
    if (once) encode_once(request, command);
    if (fenced) gh_request_number(request, command->fence);
    encode_arguments(request, command);
}

/* Where there is one. */
static void tell_key(const gh_request* request, const gh_command* command)
{
    if (command->key_count > 0 || command->argument_count > 1) gh_request_tell(request, first_key(command));
}

static void command_run_encode(gh_op* op, gh_request* request)
{
    gh_command* command = command_of(op);
    if (gh_request_is_route(request) && !is_fenced(command))
    {
        tell_key(request, command);
        return;
    }
    if (gh_request_is_sum(request)) gh_request_str(request, command->script->text);
    encode_run(request, command);
}

static void command_encode(gh_op* op, gh_request* request)
{
    const gh_command* command = command_of(op);
    if (gh_request_is_route(request))
    {
        tell_key(request, command);
        return;
    }
    gh_request_array(request, command->argument_count);
    encode_arguments(request, command);
}

static gh_script* command_script(gh_op* op)
{
    return command_of(op)->script;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* What the caller's own text or command answered: its error is one of the things that it may answer. */
static gh_status once_done(gh_command* command, const gh_reply* answer)
{
    if (answer == NULL) return gh_op_outcome(&command->op, GH_REASON_UNUSABLE);
    if (answer->type != GH_REPLY_ERROR) return keep_reply(command, answer) ? GH_OK : GH_TOO_SMALL;
    keep_error(command, answer);
    return GH_ERROR;
}

/* This copy did nothing. If there is no other one, nothing has been done, and the store's clock is known better now. */
static gh_status once_late(gh_command* command, uint64_t now_us)
{
    gh_op* op = &command->op;
    if (!gh_op_sent_twice(op)) command->once_until_us = 0;
    if (gh_op_sent_twice(op) && now_us > command->once_until_us) return gh_op_outcome(op, GH_REASON_DEADLINE);
    gh_op_send(op, op->flags & GH_OP_MAYBE);
    return GH_PENDING;
}

static gh_status once_answer(gh_command* command, const gh_reply* reply)
{
    const uint64_t now_us = (uint64_t)gh_reply_integer(reply, GH_COMMAND_ONCE_NOW_US);
    switch (gh_reply_integer(reply, GH_COMMAND_ONCE_CODE))
    {
    case GH_COMMAND_ONCE_DONE: return once_done(command, gh_reply_at(reply, GH_COMMAND_ONCE_ANSWER));
    case GH_COMMAND_ONCE_BEGUN: return gh_op_outcome(&command->op, GH_REASON_HALFWAY);
    case GH_COMMAND_ONCE_LOST: return GH_TOO_SMALL; /* and reply_needed is 0: no memory would have done */
    case GH_COMMAND_ONCE_LATE: return once_late(command, now_us);
    default: return gh_op_outcome(&command->op, GH_REASON_UNUSABLE);
    }
}

static gh_status command_answer(gh_op* op, const gh_event* event)
{
    gh_command* command = command_of(op);
    if (runs_once(command)) return once_answer(command, event->reply);
    return keep_reply(command, event->reply) ? GH_OK : GH_TOO_SMALL;
}

static void command_step(gh_op* op, const gh_event* event)
{
    if (event->kind == GH_EVENT_FAILED && event->reply != NULL) keep_error(command_of(op), event->reply);
    gh_call_step(op, event);
}

/* Whose answers replicas are to have. */
static void command_synced_step(gh_op* op, const gh_event* event)
{
    if (event->kind == GH_EVENT_FAILED && event->reply != NULL) keep_error(command_of(op), event->reply);
    gh_call_synced_step(op, event);
}

#define COMMAND_KIND(STEP, ENCODE, SCRIPT, REPLICAS_AT)                                                                \
    {.name = "command",                                                                                                \
     .borrows = true,                                                                                                  \
     .step = STEP,                                                                                                     \
     .encode = ENCODE,                                                                                                 \
     .script = SCRIPT,                                                                                                 \
     .effect = GH_OP_CALLERS,                                                                                          \
     .trees = gh_tree_read,                                                                                            \
     .is_servers = gh_reply_is_whole,                                                                                  \
     .answer = command_answer,                                                                                         \
     .replicas_at = REPLICAS_AT}
#define COMMAND_SYNCED offsetof(gh_command, replicas)

/* By a script, which is ours if the caller has given a command; and as it is. */
static const gh_op_kind command_run_kind = COMMAND_KIND(command_step, command_run_encode, command_script, 0);
static const gh_op_kind command_kind = COMMAND_KIND(command_step, command_encode, NULL, 0);
static const gh_op_kind command_run_synced_kind =
    COMMAND_KIND(command_synced_step, command_run_encode, command_script, COMMAND_SYNCED);
static const gh_op_kind command_synced_kind = COMMAND_KIND(command_synced_step, command_encode, NULL, COMMAND_SYNCED);

static const gh_op_kind* kind_of(const gh_command* command)
{
    if (command->script != NULL) return command->replicas == 0 ? &command_run_kind : &command_run_synced_kind;
    return command->replicas == 0 ? &command_kind : &command_synced_kind;
}

/* ---- begin ------------------------------------------------------------------------------------------------------- */

static bool are_strings(const gh_str* strings, size_t count)
{
    size_t i;
    if (strings == NULL) return count == 0;
    for (i = 0; i < count; i++)
        if (strings[i].bytes == NULL && strings[i].size > 0) return false;
    return true;
}

static size_t strings_size(const gh_str* strings, size_t count, size_t most)
{
    size_t size = 0;
    size_t i;
    for (i = 0; i < count && size <= most; i++)
    {
        if (strings[i].size > most) return most + 1;
        size += gh_request_str_size(strings[i].size) + 2;
    }
    return size;
}

static gh_status check_command_config(const gh_command_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&command_bounds, config, client);
    if (status != GH_OK) return status;
    if (config->repeat != GH_REPEAT_NEVER && config->repeat != GH_REPEAT_SAFE && config->repeat != GH_REPEAT_ONCE)
        return GH_INVALID_REPEAT;
    if ((config->reply_memory == NULL && config->reply_size > 0) || config->reply_size > UINT32_MAX ||
        ((uintptr_t)config->reply_memory & 7) != 0)
        return GH_INVALID_BUFFER;
    if (config->fence.name.size > 0 &&
        (config->fence.fence == 0 || config->fence.name.bytes == NULL || config->fence.name.size > GH_NAME_SIZE_MAX))
        return GH_INVALID_FENCE;
    if (config->fence.name.size == 0 && config->fence.fence != 0) return GH_INVALID_FENCE;
    return gh_replicas_check(client, config->wait_replicas);
}

/* receipt_of: the one of them that a receipt lies beside, or NULL. */
static gh_status check_command(const gh_client* client, const gh_str* keys, size_t key_count, const gh_str* arguments,
                               size_t argument_count, const gh_str* receipt_of)
{
    size_t most = gh_client_out_room(client) - SCRIPT_ROOM;
    size_t size;
    if (key_count > GH_COMMAND_KEYS_MAX || !are_strings(keys, key_count)) return GH_INVALID_KEYS;
    if (argument_count > GH_COMMAND_ARGUMENTS_MAX - key_count || !are_strings(arguments, argument_count))
        return GH_INVALID_ARGUMENTS;
    size = strings_size(keys, key_count, most);
    if (size > most) return GH_TOO_LARGE;
    size += strings_size(arguments, argument_count, most);
    if (receipt_of != NULL && size <= most) size += receipt_of->size + RECEIPT_ROOM;
    return size > most ? GH_TOO_LARGE : GH_OK;
}

/* Commands that block the connection, turn it into something else, or do not answer once: it serves other ops too. A
   server compares names up to a zero byte, where its table of commands lets it come to that. */
static bool spoils_the_link(gh_str name)
{
    static const char* const names[] = {
        "ASKING", "AUTH",       "BLMOVE",     "BLMPOP",    "BLPOP",        "BRPOP",        "BRPOPLPUSH",
        "BZMPOP", "BZPOPMAX",   "BZPOPMIN",   "DISCARD",   "EXEC",         "HELLO",        "MONITOR",
        "MULTI",  "PSUBSCRIBE", "PSYNC",      "QUIT",      "READONLY",     "READWRITE",    "REPLCONF",
        "RESET",  "SELECT",     "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE", "PUNSUBSCRIBE", "UNSUBSCRIBE",
        "SYNC",   "UNWATCH",    "WAIT",       "WAITAOF",   "WATCH"};
    const char first = (char)(name.bytes[0] & ~0x20); /* nearly all are other commands by that alone */
    size_t i;
    size_t at;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
    {
        if (names[i][0] != first) continue;
        for (at = 0; at < name.size && names[i][at] != 0 && (name.bytes[at] & ~0x20) == names[i][at]; at++) continue;
        if ((at == name.size || name.bytes[at] == 0) && names[i][at] == 0) return true;
    }
    return false;
}

/* What it asks, and by which script, is in it already. */
static gh_status command_start(gh_command* command, gh_client* client, const gh_command_config* config)
{
    command->line = NULL;
    gh_name_keep(&command->fence_name, config->fence.name);
    command->fence = config->fence.fence;
    command->reply_memory = config->reply_memory;
    command->reply_size = (uint32_t)config->reply_size;
    command->reply_needed = 0;
    memset(&command->reply, 0, sizeof command->reply);
    command->once_until_us = 0;
    command->replicas = gh_replicas_wanted(client, config->wait_replicas);
    gh_call_begin(&command->op, client, kind_of(command), config->timeout_us,
                  config->repeat == GH_REPEAT_NEVER ? GH_OP_NO_REPEAT : 0);
    return GH_OK;
}

/* A command alone that is carried out by a script. Each form of that has a place among the client's scripts. */
static gh_script* script_of_command(gh_client* client, bool fenced, bool once)
{
    gh_script* script;
    if (!fenced && !once) return NULL;
    script = gh_client_script(client, !once ? &gh_command_lua : fenced ? &gh_fenced_lua : &gh_command_once_lua);
    script->own = &gh_command_lua;
    script->front = fenced ? &gh_fenced_lua : NULL;
    script->behind = once ? &gh_command_once_lua : NULL;
    return script;
}

static gh_status command_try(gh_command* op, gh_client* client, const gh_str* arguments, size_t argument_count,
                             const gh_command_config* config)
{
    gh_command_config defaults = gh_command_config_default();
    bool once;
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (config == NULL) config = &defaults;
    status = check_command_config(config, client);
    if (status != GH_OK) return status;
    once = config->repeat == GH_REPEAT_ONCE;
    if (argument_count < (once ? 2u : 1u) || arguments == NULL || arguments[0].size == 0) return GH_INVALID_ARGUMENTS;
    status = check_command(client, NULL, 0, arguments, argument_count, once ? arguments + 1 : NULL);
    if (status != GH_OK) return status;
    if (spoils_the_link(arguments[0])) return GH_INVALID_ARGUMENTS;
    op->script = script_of_command(client, config->fence.name.size > 0, once);
    op->keys = NULL;
    op->key_count = 0;
    op->arguments = arguments;
    op->argument_count = (uint16_t)argument_count;
    return command_start(op, client, config);
}

gh_status gh_command_begin(gh_command* op, gh_client* client, const gh_str* arguments, size_t argument_count,
                           const gh_command_config* config)
{
    return gh_op_begun((gh_op*)op, client, command_try(op, client, arguments, argument_count, config));
}

/* ---- a line of words --------------------------------------------------------------------------------------------- */

/* The next word of the format, with its size in front of it. False: there is none. */
static bool command_line_add(gh_format* format)
{
    char* head = format->out;
    size_t size;
    while (*format->at == ' ') format->at++;
    if (*format->at == 0) return false;
    format->full = format->end - head < 2;
    if (format->full) return false;
    format->out += 2;
    if (!gh_format_word(format)) return false;
    size = (size_t)(format->out - head) - 2;
    head[0] = (char)(size >> 8);
    head[1] = (char)(size & 255);
    return true;
}

static gh_status line_try(gh_command_line* op, gh_client* client, const gh_command_config* config, gh_format* format)
{
    gh_str first[2]; /* words: the others need no look */
    size_t count = 0;
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (format->at == NULL) return GH_INVALID_ARGUMENTS;
    format->out = op->words;
    format->end = op->words + sizeof op->words;
    while (command_line_add(format)) count++;
    if (format->full) return GH_TOO_LARGE;
    if (format->wrong || count == 0) return GH_INVALID_ARGUMENTS;
    first[0] = line_word(op->words);
    first[1] = count > 1 ? line_word(first[0].bytes + first[0].size) : first[0];
    status = command_try(&op->command, client, first, count > 1 ? 2 : 1, config);
    if (status != GH_OK) return status;
    op->command.arguments = NULL;
    op->command.line = op->words;
    op->command.argument_count = (uint16_t)count;
    return GH_OK;
}

gh_status gh_command_format(gh_command_line* op, gh_client* client, const gh_command_config* config, const char* format,
                            ...)
{
    gh_format values;
    gh_status status;
    memset(&values, 0, sizeof values);
    values.at = format;
    va_start(values.values, format);
    status = line_try(op, client, config, &values);
    va_end(values.values);
    return gh_op_begun((gh_op*)op, client, status);
}

/* ---- a script ---------------------------------------------------------------------------------------------------- */

static gh_status check_script(const gh_client* client, const gh_script* script, bool fenced, bool once)
{
    size_t most = gh_client_out_room(client) - SCRIPT_ROOM - (once ? ONCE_ROOM : 0);
    if (script == NULL || script->text.bytes == NULL || script->text.size == 0 || script->text.size > most)
        return GH_INVALID_SCRIPT;
    if (script->used && (script->front != NULL) != fenced) return GH_INVALID_FENCE;
    return script->used && (script->behind != NULL) != once ? GH_INVALID_REPEAT : GH_OK;
}

static gh_status script_try(gh_command* op, gh_client* client, gh_script* script, const gh_str* keys, size_t key_count,
                            const gh_str* arguments, size_t argument_count, const gh_command_config* config)
{
    gh_command_config defaults = gh_command_config_default();
    bool fenced;
    bool once;
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (config == NULL) config = &defaults;
    status = check_command_config(config, client);
    if (status != GH_OK) return status;
    fenced = config->fence.name.size > 0;
    once = config->repeat == GH_REPEAT_ONCE;
    status = check_script(client, script, fenced, once);
    if (status != GH_OK) return status;
    if (once && (keys == NULL || key_count == 0)) return GH_INVALID_KEYS;
    status = check_command(client, keys, key_count, arguments, argument_count, once ? keys : NULL);
    if (status != GH_OK) return status;
    script->used = true;
    script->front = fenced ? &gh_fenced_lua : NULL;
    script->behind = once ? &gh_command_once_lua : NULL;
    op->script = script;
    op->keys = keys;
    op->key_count = (uint16_t)key_count;
    op->arguments = arguments;
    op->argument_count = (uint16_t)argument_count;
    return command_start(op, client, config);
}

gh_status gh_script_begin(gh_command* op, gh_client* client, gh_script* script, const gh_str* keys, size_t key_count,
                          const gh_str* arguments, size_t argument_count, const gh_command_config* config)
{
    return gh_op_begun((gh_op*)op, client,
                       script_try(op, client, script, keys, key_count, arguments, argument_count, config));
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

const gh_reply* gh_command_reply(const gh_command* op)
{
    gh_status status = gh_op_poll(op == NULL ? NULL : &op->op);
    return status == GH_OK || status == GH_ERROR || status == GH_UNREPLICATED ? &op->reply : NULL;
}
