/* log.c -- what the caller's hooks are told.

   All that is logged goes through line_add, which lets no control byte out, so that nobody can forge a line. What comes
   from a server or a key goes through line_add_foreign before: servers repeat what they were asked, and with it
   passwords and payloads. */

#include "client/state.h"
#include "client/topology.h"
#include "wire/name.h"
#include "wire/reply_class.h"

#define LOG_TEXT_MAX           384u
#define LOG_HELD_MAX           48u  /* of them for how many lines were held back */
#define LOG_DETAIL_MAX         256u /* of a text that is not ours            */
#define LOG_COMMAND_MAX        32u  /* of a command's name, in quotes        */
#define LOG_SECRET_PIECE_BYTES 4u   /* shorter pieces of a secret are words  */

typedef struct log_line
{
    char bytes[LOG_TEXT_MAX];
    size_t size;
    size_t room; /* what it may be filled up to */
} log_line;

/* Printable ASCII as it is, any other byte as \xNN. */
static void line_add(log_line* line, gh_str part)
{
    static const char hex[] = "0123456789abcdef";
    size_t i;
    for (i = 0; i < part.size; i++)
    {
        const unsigned byte = (unsigned char)part.bytes[i];
        const bool is_plain = byte >= ' ' && byte <= '~';
        if (line->room - line->size < (is_plain ? 1u : 4u)) return;
        if (is_plain)
        {
            line->bytes[line->size++] = (char)byte;
            continue;
        }
        line->bytes[line->size++] = '\\';
        line->bytes[line->size++] = 'x';
        line->bytes[line->size++] = hex[byte >> 4];
        line->bytes[line->size++] = hex[byte & 15];
    }
}

/* ---- texts that are not ours: only their beginning is kept ------------------------------------------------------- */

static char log_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool log_is_letter(char c)
{
    return (c >= '0' && c <= '9') || (log_lower(c) >= 'a' && log_lower(c) <= 'z');
}

static bool log_is_one_of(char c, gh_str set)
{
    return memchr(set.bytes, c, set.size) != NULL;
}

/* In any case. */
static bool log_is_at(gh_str text, size_t at, const char* bytes, size_t size)
{
    size_t i;
    if (at > text.size || text.size - at < size) return false;
    for (i = 0; i < size; i++)
        if (log_lower(text.bytes[at + i]) != log_lower(bytes[i])) return false;
    return true;
}

static bool log_ends_with(gh_str text, size_t end, gh_str words)
{
    return end >= words.size && log_is_at(text, end - words.size, words.bytes, words.size);
}

/* The size of "'get'" at a quote, where what is quoted is a command's name, not what came behind it; else 0. */
static size_t log_command_at(gh_str text, size_t at)
{
    size_t end = at + 1;
    if (!log_ends_with(text, at, gh_str_literal("command ")) && !log_ends_with(text, at, gh_str_literal("run the ")))
        return 0;
    while (end < text.size && end - at <= LOG_COMMAND_MAX &&
           (log_is_letter(text.bytes[end]) || log_is_one_of(text.bytes[end], gh_str_literal("._|-"))))
        end++;
    return end < text.size && end > at + 1 && text.bytes[end] == text.bytes[at] ? end + 1 - at : 0;
}

/* How much of a text comes before what it repeats of a request: in quotes, or escaped, or as "args". */
static size_t log_words(gh_str text)
{
    const gh_str args = gh_str_literal(", with args");
    const gh_str marks = gh_str_literal("'\"`\\");
    size_t at = 0;
    while (at < text.size && !log_is_at(text, at, args.bytes, args.size))
    {
        size_t size = log_is_one_of(text.bytes[at], marks) ? log_command_at(text, at) : 1;
        if (size == 0) return at;
        at += size;
    }
    return at;
}

static bool log_is_word(gh_str text, size_t at, size_t size)
{
    return (at == 0 || !log_is_letter(text.bytes[at - 1])) &&
           (at + size >= text.size || !log_is_letter(text.bytes[at + size]));
}

/* How much of a text comes before the first piece of a secret. One of three bytes or less must be a word. */
static size_t log_before_secret(gh_str text, gh_str secret)
{
    size_t size = secret.size < LOG_SECRET_PIECE_BYTES ? secret.size : LOG_SECRET_PIECE_BYTES;
    size_t at;
    size_t from;
    for (at = 0; size > 0 && at < text.size; at++)
        for (from = 0; from + size <= secret.size; from++)
            if (log_is_at(text, at, secret.bytes + from, size) &&
                (size == LOG_SECRET_PIECE_BYTES || log_is_word(text, at, size)))
                return at;
    return text.size;
}

static gh_link* log_own_link(gh_client* client, uint32_t n)
{
    return client->topology == NULL ? NULL : client->config.topology->link(client, n);
}

/* Any link has one. */
static bool log_is_hand_shake(gh_client* client)
{
    const gh_node* node = client->nodes;
    const gh_link* link = &client->wake;
    uint32_t n = 0;
    for (; link != NULL; link = log_own_link(client, n++))
        if (link->state == GH_LINK_HANDSHAKE) return true;
    while (node < client->nodes_end && node->link.state != GH_LINK_HANDSHAKE) node++;
    return node < client->nodes_end;
}

/* In a hand-shake with a credentials hook a server may repeat what is not kept here to be looked for: of its text the
   first word alone is shown, and that if it begins one of the phrases that we know. */
static size_t log_before_credentials(gh_client* client, gh_str text)
{
    if (client->config.credentials == NULL || !log_is_hand_shake(client)) return text.size;
    if (gh_reply_classify(text) == GH_CLASS_OTHER) return 0;
    return (size_t)((const char*)memchr(text.bytes, ' ', text.size) - text.bytes); /* each of them has one */
}

static void line_add_foreign(log_line* line, gh_client* client, gh_str text)
{
    const gh_client_config* config = &client->config;
    const gh_str secrets[] = {config->password, config->user, config->sentinel_password, config->sentinel_user};
    size_t size = text.size;
    size_t i;
    if (text.size > LOG_DETAIL_MAX) text.size = LOG_DETAIL_MAX;
    text.size = log_words(text);
    for (i = 0; i < sizeof secrets / sizeof secrets[0]; i++) text.size = log_before_secret(text, secrets[i]);
    text.size = log_before_credentials(client, text);
    line_add(line, text);
    if (text.size < size) line_add(line, gh_str_literal("[...]"));
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void line_add_held(log_line* line, uint32_t held)
{
    char digits[GH_DECIMAL_SIZE_MAX];
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

void gh_log_limited(gh_client* client, gh_log_topic topic, gh_log_level level, const gh_str* parts, size_t count,
                    gh_str detail)
{
    const gh_hooks* hooks = &client->config.hooks;
    gh_log_limit* limit = &client->log_limits[topic];
    log_line line;
    size_t i;
    if (hooks->log == NULL) return;
    if (topic != GH_LOG_UNLIMITED && log_is_held(client, limit)) return;
    line.size = 0;
    line.room = limit->held > 0 ? LOG_TEXT_MAX - LOG_HELD_MAX : LOG_TEXT_MAX;
    for (i = 0; i < count; i++) line_add(&line, parts[i]);
    line_add_foreign(&line, client, detail);
    line.room = LOG_TEXT_MAX;
    if (limit->held > 0) line_add_held(&line, limit->held);
    limit->held = 0;
    hooks->log(hooks->context, level, gh_str_make(line.bytes, line.size));
}

void gh_log_str(gh_client* client, gh_log_level level, const char* text, gh_str detail)
{
    const gh_str part = gh_str_of(text);
    gh_log_limited(client, GH_LOG_UNLIMITED, level, &part, 1, detail);
}

void gh_log(gh_client* client, gh_log_level level, const char* text)
{
    gh_log_str(client, level, text, gh_str_make(NULL, 0));
}

void gh_log_op(const gh_op* op, gh_log_topic topic, gh_log_level level, const char* text, gh_str detail)
{
    gh_str parts[3];
    parts[0] = gh_str_of(op->kind->name);
    parts[1] = gh_str_literal(": ");
    parts[2] = gh_str_of(text);
    gh_log_limited(op->client, topic, level, parts, 3, detail);
}

void gh_op_warn(const gh_op* op, const char* text, gh_str detail)
{
    gh_log_op(op, GH_LOG_SYSTEM, GH_LOG_WARNING, text, detail);
}

/* An op that has ended has no client any more. */
static void tell_trace(const gh_client* client, const gh_op* op, gh_trace_event* event)
{
    const gh_hooks* hooks = &client->config.hooks;
    if (hooks->trace == NULL) return;
    event->system = op->kind->name;
    event->op = op;
    event->now_us = client->ticked ? client->now_us + client->origin_us : 0;
    hooks->trace(hooks->context, event);
}

void gh_op_trace(const gh_op* op, gh_trace_event* event)
{
    tell_trace(op->client, op, event);
}

void gh_trace(gh_client* client, gh_trace_kind kind, const gh_op* op, uint64_t elapsed_us, gh_status status)
{
    gh_trace_event event;
    if (client->config.hooks.trace == NULL) return;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.elapsed_us = elapsed_us;
    event.status = status;
    tell_trace(client, op, &event);
}

bool gh_assertion(const gh_client* client, const char* file, int line, const char* expression)
{
    const gh_hooks* hooks = client == NULL ? NULL : &client->config.hooks; /* of an op that is over */
    return hooks != NULL && hooks->assertion != NULL && hooks->assertion(hooks->context, file, line, expression);
}
