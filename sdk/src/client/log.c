/* log.c -- what the caller's hooks are told. */

#include "client/state.h"
#include "wire/name.h"

#define LOG_TEXT_MAX 384u

typedef struct log_line
{
    char bytes[LOG_TEXT_MAX];
    size_t size;
} log_line;

static void line_add(log_line* line, gh_str part)
{
    size_t size = part.size < LOG_TEXT_MAX - line->size ? part.size : LOG_TEXT_MAX - line->size;
    if (size > 0) memcpy(line->bytes + line->size, part.bytes, size);
    line->size += size;
}

static void line_add_held(log_line* line, uint32_t held)
{
    char digits[20];
    char* end = gh_decimal_encode(held, digits);
    line_add(line, gh_str_literal(" (and "));
    line_add(line, gh_str_make(digits, (size_t)(end - digits)));
    line_add(line, gh_str_literal(" more of the kind before)"));
}

static bool log_is_held(gh_client* client, gh_log_limit* limit)
{
    if (client->now_us - limit->since_us >= GH_LOG_WINDOW_US)
    {
        limit->since_us = client->now_us;
        limit->told = 0;
    }
    if (limit->told < GH_LOG_BURST)
    {
        limit->told++;
        return false;
    }
    if (limit->held < UINT32_MAX) limit->held++;
    client->stats.log_lines_held++;
    return true;
}

void gh_log_limited(gh_client* client, gh_log_topic topic, gh_log_level level, const gh_str* parts, size_t count)
{
    const gh_hooks* hooks = &client->config.hooks;
    gh_log_limit* limit = &client->log_limits[topic];
    log_line line;
    size_t i;
    if (hooks->log == NULL) return;
    if (topic != GH_LOG_UNLIMITED && log_is_held(client, limit)) return;
    line.size = 0;
    for (i = 0; i < count; i++) line_add(&line, parts[i]);
    if (limit->held > 0) line_add_held(&line, limit->held);
    limit->held = 0;
    hooks->log(hooks->context, level, gh_str_make(line.bytes, line.size));
}

void gh_log_str(gh_client* client, gh_log_level level, const char* text, gh_str detail)
{
    gh_str parts[2];
    parts[0] = gh_str_of(text);
    parts[1] = detail;
    gh_log_limited(client, GH_LOG_UNLIMITED, level, parts, 2);
}

void gh_log(gh_client* client, gh_log_level level, const char* text)
{
    gh_log_str(client, level, text, gh_str_make(NULL, 0));
}

void gh_log_op(const gh_op* op, gh_log_topic topic, gh_log_level level, const char* text, gh_str detail)
{
    gh_str parts[4];
    parts[0] = gh_str_of(op->kind->name);
    parts[1] = gh_str_literal(": ");
    parts[2] = gh_str_of(text);
    parts[3] = detail;
    gh_log_limited(op->client, topic, level, parts, 4);
}

void gh_op_warn(const gh_op* op, const char* text, gh_str detail)
{
    gh_log_op(op, GH_LOG_SYSTEM, GH_LOG_WARNING, text, detail);
}

void gh_trace(gh_client* client, gh_trace_kind kind, const gh_op* op, uint64_t elapsed_us, gh_status status)
{
    const gh_hooks* hooks = &client->config.hooks;
    gh_trace_event event;
    if (hooks->trace == NULL) return;
    event.kind = kind;
    event.system = op->kind->name;
    event.op = op;
    event.now_us = client->ticked ? client->now_us + client->origin_us : 0;
    event.elapsed_us = elapsed_us;
    event.status = status;
    hooks->trace(hooks->context, &event);
}

bool gh_assertion(gh_client* client, const char* file, int line, const char* expression)
{
    const gh_hooks* hooks = &client->config.hooks;
    return hooks->assertion != NULL && hooks->assertion(hooks->context, file, line, expression);
}
