/* link.c -- one connection: resolve, connect, send, receive, lose, and try again later. */

#include "base/least.h"
#include "base/wipe.h"
#include "client/lend.h"
#include "client/link.h"
#include "client/state.h"
#include "wire/name.h"

#define PING_US          5000000ull /* a silent peer is asked whether it is still there */
#define FLUSH_LATE_BYTES 16384u     /* bytes of the one send that a tick still has when its budget is spent */
#define UNASKED_BYTES    64u        /* that are dropped at a time                                           */

static void link_begin(gh_link* link, gh_client* client)
{
    client->connections++;
    if (client->connections == 0) client->connections = 1;
    link->generation = client->connections;
    link->due_us = gh_client_after(client, client->config.connect_timeout_us);
    link->address = link->target->address;
    link->state = link->target->needs_resolver ? GH_LINK_RESOLVING : GH_LINK_CONNECTING;
}

static bool resolver_answered(gh_link* link, gh_client* client)
{
    gh_str numeric = gh_str_make(NULL, 0);
    gh_status status;
    if (client->config.resolver == NULL) /* a name that a server said */
    {
        gh_link_lose(link, client, GH_LOG_ERROR, "a host name, and config.resolver is not set");
        return false;
    }
    status = client->config.resolver(client->config.resolver_context, link->target->address.host, &numeric);
    if (status == GH_PENDING) return false;
    if (status != GH_OK || numeric.bytes == NULL || numeric.size == 0)
    {
        gh_link_lose(link, client, GH_LOG_WARNING, "the resolver found no address");
        return false;
    }
    link->address.name = link->target->address.host;
    link->address.host = numeric;
    link->address.kind = memchr(numeric.bytes, ':', numeric.size) != NULL ? GH_ADDRESS_IPV6 : GH_ADDRESS_IPV4;
    link->state = GH_LINK_CONNECTING;
    return true;
}

/* Right after a call of the platform that failed. */
static void link_note_reason(gh_link* link, const gh_client* client)
{
    const gh_platform* platform = client->platform;
    link->error_text = NULL;
    link->error = platform->reason == NULL ? 0 : platform->reason(platform->context, &link->error_text);
}

static gh_status link_open(gh_link* link, gh_client* client)
{
    const gh_platform* platform = client->platform;
    bool is_open = link->has_stream;
    gh_status status = is_open ? platform->connected(platform->context, link->stream)
                               : platform->open(platform->context, &link->address, &link->stream);
    if (status == GH_OK || status == GH_PENDING)
    {
        link->has_stream = true;
        return status;
    }
    if (status != GH_INVALID_ADDRESS) link_note_reason(link, client);
    if (!is_open) link->stream = -1;
    return status;
}

/* False: it is not connected yet, or was lost. */
static bool link_opened(gh_link* link, gh_client* client)
{
    gh_status status = link_open(link, client);
    if (status == GH_OK) return true;
    if (status != GH_PENDING)
        gh_link_lose(link, client, GH_LOG_WARNING,
                     status == GH_INVALID_ADDRESS ? "the address is not a number" : "no connection");
    else if (client->now_us >= link->due_us) gh_link_lose(link, client, GH_LOG_WARNING, "no connection in time");
    return false;
}

/* Puts AUTH in front of all that is said, where there is a password. */
static gh_status link_identify(gh_link* link, const gh_client* client)
{
    const gh_client_config* config = &client->config;
    gh_str user = config->user;
    gh_str password = config->password;
    gh_request request = gh_link_request(link);
    gh_status status;
    if (link->login != NULL)
    {
        user = link->login->user;
        password = link->login->password;
    }
    else if (config->credentials != NULL)
    {
        user = password = gh_str_make(NULL, 0);
        status = config->credentials(config->credentials_context, &user, &password);
        if (status == GH_OK) status = gh_config_check_login(user, password);
        if (status != GH_OK) return status;
    }
    if (password.size == 0) return GH_OK;
    gh_request_array(&request, user.size == 0 ? 2 : 3);
    gh_request_str(&request, gh_str_literal("AUTH"));
    if (user.size > 0) gh_request_str(&request, user);
    gh_request_str(&request, password);
    link->secret_bytes = (uint32_t)(request.at - link->out);
    gh_link_commit(link, &request);
    return GH_OK;
}

/* Before anything was said on it. What the peer says nevertheless is dropped, so that nobody who sleeps until the
   stream is readable is woken for nothing. */
static bool link_was_closed(gh_link* link, const gh_client* client)
{
    char unasked[UNASKED_BYTES];
    int64_t got = client->platform->receive(client->platform->context, link->stream, unasked, sizeof unasked);
    if (got >= 0 && got <= (int64_t)sizeof unasked) return false;
    link_note_reason(link, client);
    return true;
}

/* Of a stream that is connected. False: the credentials are not there yet, or there are none. */
static bool link_identified(gh_link* link, gh_client* client)
{
    gh_status status;
    GH_INVARIANT(client, link->out_end == 0 && link->sent_bytes == 0);
    status = gh_lend_out(client, link) ? link_identify(link, client) : GH_PENDING;
    link->state = status == GH_OK ? GH_LINK_HANDSHAKE : GH_LINK_RESOLVING;
    link->heard_us = client->now_us;
    if (status == GH_OK) return true;
    if (status != GH_PENDING || client->now_us >= link->due_us)
        gh_link_lose(link, client, GH_LOG_WARNING, "no usable credentials");
    else if (link_was_closed(link, client)) gh_link_lose(link, client, GH_LOG_WARNING, "closed by the server");
    return false;
}

bool gh_link_connect(gh_link* link, gh_client* client)
{
    if (link->state == GH_LINK_READY || link->state == GH_LINK_HANDSHAKE) return false;
    if (gh_link_is_due(link, client)) link_begin(link, client);
    if (link->state == GH_LINK_RESOLVING && link->has_stream) return link_identified(link, client);
    if (link->state == GH_LINK_RESOLVING && client->now_us < link->due_us) resolver_answered(link, client);
    if (link->state == GH_LINK_CONNECTING) return link_opened(link, client) && link_identified(link, client);
    if (link->state == GH_LINK_RESOLVING && client->now_us >= link->due_us)
        gh_link_lose(link, client, GH_LOG_WARNING, "the resolver did not answer in time");
    return false;
}

static void link_forget_secret(gh_link* link)
{
    gh_wipe(link->out, link->secret_bytes);
    link->secret_bytes = 0;
}

void gh_link_shut(gh_link* link, gh_client* client)
{
    link_forget_secret(link);
    if (link->has_stream) client->platform->close(client->platform->context, link->stream);
    link->has_stream = link->unread = false;
    link->stream = -1;
    link->state = GH_LINK_IDLE;
    link->out_start = link->out_end = 0;
    link->sent_bytes = 0;
}

/* The pause doubles with each failure; the first one after a good connection is the shortest. */
static uint64_t link_pause(const gh_link* link, gh_client* client)
{
    uint32_t doublings = link->failures > 20 ? 20 : link->failures;
    uint64_t pause = client->config.backoff_min_us << doublings;
    if (pause > client->config.backoff_max_us) pause = client->config.backoff_max_us;
    return gh_client_jitter(client, pause);
}

/* "<link>: <why>[: <words> [(]<number>[)]], <address>" */
static void link_log(const gh_link* link, gh_client* client, gh_log_topic topic, gh_log_level level, const char* why)
{
    gh_str parts[9];
    char digits[GH_DECIMAL_SIZE_MAX];
    char* end = gh_decimal_encode((uint64_t)(link->error < 0 ? 0 : link->error), digits);
    size_t count = 0;
    parts[count++] = gh_str_of(link->title);
    parts[count++] = gh_str_of(why);
    if (link->error > 0)
    {
        parts[count++] = gh_str_literal(": ");
        parts[count++] = gh_str_of(link->error_text == NULL ? "error" : link->error_text);
        parts[count++] = gh_str_literal(" (");
        parts[count++] = gh_str_make(digits, (size_t)(end - digits));
        parts[count++] = gh_str_literal(")");
    }
    parts[count++] = gh_str_literal(", ");
    parts[count++] = link->target->text;
    gh_log_limited(client, topic, level, parts, count, gh_str_make(NULL, 0));
}

/* A server that is away is said once, not at every attempt; but said again when it is away in another way. */
static void link_tell(gh_link* link, gh_client* client, gh_log_level level, const char* why)
{
    bool is_known = link->failures > 0 && link->told_why != NULL && strcmp(link->told_why, why) == 0 &&
                    link->told_error == link->error;
    link_log(link, client, is_known ? GH_LOG_UNLIMITED : link->topic, is_known ? GH_LOG_DEBUG : level, why);
    link->told_why = why;
    link->told_error = link->error;
    link->error = 0;
    link->error_text = NULL;
}

/* A server may have repeated the password, when it was asked for its first words. */
static void link_forget_heard(gh_link* link)
{
    if (link->state == GH_LINK_HANDSHAKE && link->inbox.bytes != NULL) gh_inbox_wipe(&link->inbox);
}

void gh_link_lose(gh_link* link, gh_client* client, gh_log_level level, const char* why)
{
    GH_INVARIANT(client, gh_link_is_open(link));
    link_forget_heard(link);
    gh_link_shut(link, client);
    link->state = GH_LINK_BACKOFF;
    link->due_us = gh_client_after(client, link_pause(link, client));
    link_tell(link, client, level, why);
    link->failures++;
    gh_inbox_reset(&link->inbox);
}

void gh_link_init(gh_link* link, gh_log_topic topic, const char* title, const gh_target* target)
{
    link->topic = topic;
    link->title = title;
    link->target = target;
    link->stream = -1;
}

gh_request gh_link_request(gh_link* link)
{
    gh_request request;
    request.at = link->out + link->out_end;
    request.end = link->out + link->out_capacity;
    request.full = false;
    request.phantom = 0;
    request.keys_left = 0;
    request.sum.value = 0;
    request.sum.is_asked = false;
    request.route = NULL;
    request.script = NULL;
    return request;
}

bool gh_link_commit(gh_link* link, const gh_request* request)
{
    if (request->full)
    {
        link->out_used = link->out_capacity; /* or less: as far as it came */
        return false;
    }
    link->out_end = (uint32_t)(request->at - link->out);
    if (link->out_end > link->out_used) link->out_used = link->out_end;
    return true;
}

gh_moved gh_link_flush(gh_link* link, gh_client* client)
{
    uint32_t piece = gh_link_unsent(link);
    int64_t sent;
    GH_INVARIANT(client, link->out_start <= link->out_end && link->out_end <= link->out_capacity);
    if (piece == 0) return GH_MOVED_NOTHING;
    GH_INVARIANT(client, link->has_stream);
    if (piece > GH_FLUSH_BYTES) piece = GH_FLUSH_BYTES;
    if (client->budget_spent && piece > FLUSH_LATE_BYTES) piece = FLUSH_LATE_BYTES;
    sent = client->platform->send(client->platform->context, link->stream, link->out + link->out_start, piece);
    if (sent < 0 || sent > (int64_t)piece)
    {
        link_note_reason(link, client);
        return GH_MOVED_LOST;
    }
    link->out_start += (uint32_t)sent;
    link->sent_bytes += (uint64_t)sent;
    client->stats.bytes_sent += (uint64_t)sent;
    if (link->secret_bytes > 0 && link->sent_bytes >= link->secret_bytes) link_forget_secret(link);
    if (link->out_start == link->out_end)
    {
        link->out_start = link->out_end = 0;
        return GH_MOVED_SOME;
    }
    /* What is left is the smaller half, and no more than a piece: cheap to move. */
    if (link->out_start >= link->out_capacity / 2 && gh_link_unsent(link) <= GH_FLUSH_BYTES && link->secret_bytes == 0)
    {
        memmove(link->out, link->out + link->out_start, gh_link_unsent(link));
        link->out_end -= link->out_start;
        link->out_start = 0;
    }
    return sent == (int64_t)piece ? GH_MOVED_MORE : GH_MOVED_NOTHING; /* else the socket is full */
}

gh_moved gh_link_receive(gh_link* link, gh_client* client, uint32_t most)
{
    uint32_t size;
    char* room = gh_inbox_room(&link->inbox, &size);
    int64_t got;
    GH_INVARIANT(client, link->has_stream && size > 0);
    if (size > most) size = most;
    got = client->platform->receive(client->platform->context, link->stream, room, size);
    link->unread = got == (int64_t)size;
    if (got == GH_STREAM_WOULD_BLOCK) return GH_MOVED_NOTHING;
    if (got < 0 || got > (int64_t)size)
    {
        link_note_reason(link, client);
        return GH_MOVED_LOST;
    }
    gh_inbox_received(&link->inbox, (uint32_t)got);
    link->heard_us = client->now_us;
    client->stats.bytes_received += (uint64_t)got;
    return link->unread ? GH_MOVED_MORE : GH_MOVED_SOME;
}

gh_read gh_link_next(gh_link* link, gh_client* client, const gh_reply** reply)
{
    return gh_inbox_next(&link->inbox, &client->reader, reply);
}

/* ---- links that listen ------------------------------------------------------------------------------------------- */

static bool ping_is_awaited(const gh_link* link)
{
    return link->ping_us > link->heard_us;
}

bool gh_link_is_silent(const gh_link* link, const gh_client* client)
{
    if (link->state == GH_LINK_HANDSHAKE) return client->now_us >= link->due_us;
    return ping_is_awaited(link) && client->now_us - link->ping_us >= client->config.request_timeout_us;
}

uint64_t gh_link_listen_due(const gh_link* link, const gh_client* client)
{
    if (link->state == GH_LINK_RESOLVING) return gh_least(client->now_us + GH_RESOLVER_PAUSE_US, link->due_us);
    if (link->unread && link->inbox.bytes != NULL) return client->now_us;
    if (link->state != GH_LINK_READY) return link->due_us;
    return ping_is_awaited(link) ? link->ping_us + client->config.request_timeout_us : link->heard_us + PING_US;
}

void gh_link_ping(gh_link* link, gh_client* client)
{
    gh_request request;
    if (link->state != GH_LINK_READY || ping_is_awaited(link) || client->now_us < link->heard_us + PING_US) return;
    request = gh_link_request(link);
    gh_request_array(&request, 1);
    gh_request_str(&request, gh_str_literal("PING"));
    gh_link_commit(link, &request);
    link->ping_us = client->now_us;
}
