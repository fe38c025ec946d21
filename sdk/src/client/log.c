/* log.c -- what the caller's hooks are told. */

#include "client/state.h"

#define LOG_TEXT_MAX 256u

void gh_log(gh_client* client, gh_log_level level, const char* text)
{
    gh_log_str(client, level, text, gh_str_make(NULL, 0));
}

void gh_log_str(gh_client* client, gh_log_level level, const char* text, gh_str detail)
{
    const gh_hooks* hooks = &client->config.hooks;
    char line[LOG_TEXT_MAX];
    size_t size = strlen(text);
    if (hooks->log == NULL) return;
    if (size > LOG_TEXT_MAX) size = LOG_TEXT_MAX;
    memcpy(line, text, size);
    if (detail.size > LOG_TEXT_MAX - size) detail.size = LOG_TEXT_MAX - size;
    if (detail.size > 0) memcpy(line + size, detail.bytes, detail.size);
    hooks->log(hooks->context, level, gh_str_make(line, size + detail.size));
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
