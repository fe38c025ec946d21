/* member.c -- a client, and a row on the board. */

#include "member.h"

#include "frame.h"
#include "platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The log of the client: on the board, where all see it, and on stderr if it is more than news. */
static void on_log(void* context, gh_log_level level, gh_str text)
{
    member* m = context;
    if (level > GH_LOG_INFO) return;
    board_say(&m->row, frame_now_us(), level, text);
    if (level <= GH_LOG_WARNING) fprintf(stderr, "%s: %.*s\n", m->row.name, (int)text.size, text.bytes);
}

static bool open_board(member* m, const options* o)
{
    m->slot = o->slot;
    if (o->board == NULL) return true;
    m->board = board_open(o->board);
    if (m->board == NULL) fprintf(stderr, "%s: no board %s: %s\n", o->name, o->board, strerror(errno));
    return m->board != NULL;
}

bool member_open(member* m, const options* o, const char* role, gh_client_config config)
{
    *m = (member){0};
    snprintf(m->row.role, sizeof m->row.role, "%s", role);
    snprintf(m->row.name, sizeof m->row.name, "%s", o->name);
    m->row.pid = getpid();
    if (!open_board(m, o)) return false;

    config.address = gh_str_of(o->redis);
    config.user = gh_str_of(o->user);
    config.password = gh_str_of(o->password);
    config.client_name = gh_str_of(o->name);
    if (o->prefix != NULL) config.prefix = gh_str_of(o->prefix);
    config.hooks.context = m;
    config.hooks.log = on_log;
    size_t size = (gh_client_memory(&config) + 63) & ~(size_t)63;
    m->memory = aligned_alloc(64, size == 0 ? 64 : size);
    gh_status status = gh_client_init(m->memory, size, &config, gh_platform_default(), &m->client);
    if (status == GH_OK) return true;
    fprintf(stderr, "%s: %s: %s\n", o->name, o->redis, gh_status_text(status));
    free(m->memory);
    return false;
}

void member_publish(member* m, uint64_t now_us, const char* phase)
{
    if (m->board == NULL) return;
    snprintf(m->row.phase, sizeof m->row.phase, "%s", phase);
    m->row.beat_us = now_us;
    m->row.link = m->client == NULL ? GH_LINK_IDLE : gh_client_link_state(m->client, GH_LINK_COMMANDS);
    if (m->client != NULL) gh_client_get_stats(m->client, &m->row.stats);
    board_publish(m->board, m->slot, &m->row);
}

void member_close(member* m, bool good)
{
    member_publish(m, frame_now_us(), good ? "over" : "failed");
    gh_client_shutdown(m->client);
    m->client = NULL;
    free(m->memory);
    m->memory = NULL;
}
