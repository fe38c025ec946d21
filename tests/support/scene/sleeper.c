/* sleeper.c -- sleeping between ticks, in a made-up world and with poll(). */

#include "support/scene/sleeper.h"

#include <poll.h>

static bool is_readable(const scripted* world, gh_link_name link)
{
    intptr_t fd = gh_client_fd(world->client, link, NULL);
    return fd >= 0 && (world->streams[fd].replies.size > 0 || world->streams[fd].ended);
}

static bool is_writable(const scripted* world, gh_link_name link)
{
    bool want_write = false;
    intptr_t fd = gh_client_fd(world->client, link, &want_write);
    return fd >= 0 && want_write && world->send_max > 0 && world->connected_status != GH_PENDING;
}

void sleeper_tick(scripted* world)
{
    bool ready = is_readable(world, GH_LINK_COMMANDS) || is_readable(world, GH_LINK_WAKE) ||
                 is_writable(world, GH_LINK_COMMANDS) || is_writable(world, GH_LINK_WAKE);
    uint64_t due_us = gh_next_deadline(world->client);
    uint64_t later_us = due_us > world->now_us ? due_us - world->now_us : 0;
    if (!ready && due_us == GH_FOREVER) fail_msg("%s", "it would sleep for ever");
    scripted_tick(world, ready || later_us < 50 ? 50 : later_us);
}

#define HANDLES_MAX 16 /* of one game */

static nfds_t add_handles(const game* self, struct pollfd* fds)
{
    gh_client_handle handles[HANDLES_MAX];
    uint32_t count = gh_client_handles(self->client, handles, HANDLES_MAX);
    assert_true(count <= HANDLES_MAX);
    for (uint32_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){(int)handles[i].handle, (short)(handles[i].want_write ? POLLIN | POLLOUT : POLLIN), 0};
    return count;
}

bool sleeper_poll(game** games, int count, uint64_t most_us)
{
    struct pollfd fds[4 * HANDLES_MAX];
    nfds_t fd_count = 0;
    assert_true(count <= 4);
    for (int i = 0; i < count; i++)
    {
        uint64_t due_us = gh_next_deadline(games[i]->client);
        uint64_t now_us = game_now_us(games[i]);
        uint64_t left_us = due_us > now_us ? due_us - now_us : 0;
        if (left_us < most_us) most_us = left_us;
        fd_count += add_handles(games[i], fds + fd_count);
        games[i]->ticked_us = 0; /* it sleeps because it wants to, so all of it counts */
    }
    return poll(fds, fd_count, (int)((most_us + 999) / 1000)) == 0 && most_us > 0;
}
