/* command.c -- commands and scripts of the caller's own, with a fence or without. */

#include "guildhall/command.h"

#include "client/op.h"
#include "client/refusal.h"
#include "wire/format.h"
#include "wire/name.h"

#define TIMEOUT_MAX_US 3600000000ull
#define SCRIPT_ROOM 2048u /* digest, keys, and the headers around them */

static const gh_bound command_bounds_rows[] = {
    GH_BOUND(gh_command_config, timeout_us, GH_TIMEOUT_USUAL_US, GH_TIMEOUT_LEAST_US, TIMEOUT_MAX_US,
             GH_INVALID_TIMEOUT)};
static const gh_bounds command_bounds = GH_BOUNDS(gh_command_config, command_bounds_rows);

gh_command_config gh_command_config_default(void)
{
    gh_command_config config;
    gh_bounds_fill(&command_bounds, &config);
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
        if (last == NULL)
            first = value;
        else
            last->next = value;
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

static void command_encode(gh_op* op, gh_request* request)
{
    gh_command* command = command_of(op);
    uint32_t more = is_fenced(command) ? 1 : 0;
    if (command->script == NULL)
    {
        gh_request_array(request, command->argument_count);
        encode_arguments(request, command);
        return;
    }
    gh_request_script(request, command->script, command->key_count + more, command->argument_count + more);
    if (more != 0)
        gh_request_object_key(request, op->client, gh_str_literal("lock"), gh_name_str(&command->fence_name), 's');
    encode_strings(request, command->keys, command->key_count);
    if (more != 0) gh_request_number(request, command->fence);
    encode_arguments(request, command);
}

static gh_script* command_script(gh_op* op)
{
    return command_of(op)->script;
}

static gh_status command_answer(gh_op* op, const gh_event* event)
{
    return keep_reply(command_of(op), event->reply) ? GH_OK : GH_TOO_SMALL;
}

static void command_step(gh_op* op, const gh_event* event)
{
    if (event->kind == GH_EVENT_FAILED && event->reply != NULL) keep_error(command_of(op), event->reply);
    gh_call_step(op, event);
}

static const gh_op_kind command_kind = {
    .name = "command", .step = command_step, .encode = command_encode, .script = command_script,
    .effect = GH_OP_CALLERS, .answer = command_answer};

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
    if (config->repeat != GH_REPEAT_NEVER && config->repeat != GH_REPEAT_SAFE) return GH_INVALID_REPEAT;
    if ((config->reply_memory == NULL && config->reply_size > 0) || config->reply_size > UINT32_MAX ||
        ((uintptr_t)config->reply_memory & 7) != 0)
        return GH_INVALID_BUFFER;
    if (config->fence.name.size > 0 &&
        (config->fence.fence == 0 || config->fence.name.bytes == NULL || config->fence.name.size > GH_NAME_SIZE_MAX))
        return GH_INVALID_FENCE;
    if (config->fence.name.size == 0 && config->fence.fence != 0) return GH_INVALID_FENCE;
    return GH_OK;
}

static gh_status check_command(const gh_client* client, const gh_str* keys, size_t key_count, const gh_str* arguments,
                               size_t argument_count)
{
    size_t most = gh_client_out_room(client) - SCRIPT_ROOM;
    size_t size;
    if (key_count > GH_COMMAND_KEYS_MAX || !are_strings(keys, key_count)) return GH_INVALID_KEYS;
    if (argument_count > GH_COMMAND_ARGUMENTS_MAX - key_count || !are_strings(arguments, argument_count))
        return GH_INVALID_ARGUMENTS;
    size = strings_size(keys, key_count, most);
    if (size > most) return GH_TOO_LARGE;
    return size + strings_size(arguments, argument_count, most) > most ? GH_TOO_LARGE : GH_OK;
}

/* Commands that block the connection, turn it into something else, or do not answer once: it serves other ops too. */
static bool spoils_the_link(gh_str name)
{
    static const char* const names[] = {
        "AUTH",     "BLMOVE",  "BLMPOP", "BLPOP",      "BRPOP",     "BRPOPLPUSH",   "BZMPOP",       "BZPOPMAX",
        "BZPOPMIN", "DISCARD", "EXEC",   "HELLO",      "MONITOR",   "MULTI",        "PSUBSCRIBE",   "PSYNC",
        "QUIT",     "RESET",   "SELECT", "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE", "PUNSUBSCRIBE", "UNSUBSCRIBE",
        "SYNC",     "UNWATCH", "WAIT",   "WAITAOF",    "WATCH"};
    size_t i;
    size_t at;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
    {
        for (at = 0; at < name.size && names[i][at] != 0 && (name.bytes[at] & ~0x20) == names[i][at]; at++) continue;
        if (at == name.size && names[i][at] == 0) return true;
    }
    return false;
}

static gh_status command_start(gh_command* command, gh_client* client, gh_script* script, const gh_str* keys,
                               size_t key_count, const gh_str* arguments, size_t argument_count,
                               const gh_command_config* config)
{
    command->line = NULL;
    command->arguments = arguments;
    command->argument_count = (uint16_t)argument_count;
    command->keys = keys;
    command->key_count = (uint16_t)key_count;
    command->script = script;
    gh_name_keep(&command->fence_name, config->fence.name);
    command->fence = config->fence.fence;
    command->reply_memory = config->reply_memory;
    command->reply_size = (uint32_t)config->reply_size;
    command->reply_needed = 0;
    memset(&command->reply, 0, sizeof command->reply);
    gh_call_begin(&command->op, client, &command_kind, NULL, config->timeout_us,
                  config->repeat == GH_REPEAT_NEVER ? GH_OP_NO_REPEAT : 0);
    return GH_OK;
}

static gh_status command_try(gh_command* op, gh_client* client, const gh_str* arguments, size_t argument_count,
                             const gh_command_config* config)
{
    gh_command_config defaults = gh_command_config_default();
    gh_script* script = NULL;
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (config == NULL) config = &defaults;
    status = check_command_config(config, client);
    if (status != GH_OK) return status;
    if (argument_count == 0 || arguments == NULL || arguments[0].size == 0) return GH_INVALID_ARGUMENTS;
    status = check_command(client, NULL, 0, arguments, argument_count);
    if (status != GH_OK) return status;
    if (spoils_the_link(arguments[0])) return GH_INVALID_ARGUMENTS;
    if (config->fence.name.size > 0)
    {
        script = gh_client_script(client, &gh_command_lua);
        script->front = &gh_fenced_lua;
    }
    return command_start(op, client, script, NULL, 0, arguments, argument_count, config);
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
    gh_str name;
    size_t count = 0;
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (format->at == NULL) return GH_INVALID_ARGUMENTS;
    format->out = op->words;
    format->end = op->words + sizeof op->words;
    while (command_line_add(format)) count++;
    if (format->full) return GH_TOO_LARGE;
    if (format->wrong || count == 0) return GH_INVALID_ARGUMENTS;
    name = line_word(op->words);
    status = command_try(&op->command, client, &name, 1, config);
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

static gh_status script_try(gh_command* op, gh_client* client, gh_script* script, const gh_str* keys, size_t key_count,
                            const gh_str* arguments, size_t argument_count, const gh_command_config* config)
{
    gh_command_config defaults = gh_command_config_default();
    bool fenced;
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (config == NULL) config = &defaults;
    status = check_command_config(config, client);
    if (status != GH_OK) return status;
    if (script == NULL || script->text.bytes == NULL || script->text.size == 0 ||
        script->text.size > gh_client_out_room(client) - SCRIPT_ROOM)
        return GH_INVALID_SCRIPT;
    fenced = config->fence.name.size > 0;
    if (script->used && (script->front != NULL) != fenced) return GH_INVALID_FENCE;
    status = check_command(client, keys, key_count, arguments, argument_count);
    if (status != GH_OK) return status;
    script->used = true;
    script->front = fenced ? &gh_fenced_lua : NULL;
    return command_start(op, client, script, keys, key_count, arguments, argument_count, config);
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
    return status == GH_OK || status == GH_ERROR ? &op->reply : NULL;
}
