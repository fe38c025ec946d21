/* client.c -- gh_clients in memory of their own, and how a bench waits for their sockets. */

#include "harness/bench.h"

#include "guildhall/platform.h"

#include <poll.h>
#include <stdlib.h>

enum
{
    READY_WITHIN_US = 10 * 1000 * 1000,
    PAUSE_US = 100,
    CLIENTS_MAX = 16
};

static void complain(void* context, gh_log_level level, gh_str text)
{
    (void)context;
    if (level == GH_LOG_ERROR)
    {
        fprintf(stderr, "  guildhall: %.*s\n", (int)text.size, text.bytes);
    }
}

gh_client_config bench_client_config(const bench* self)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(self->options.tls == NULL ? self->options.redis : self->options.tls);
    config.hooks.log = complain;
    return config;
}

bool bench_client_open(bench_client* self, const gh_client_config* config, const struct gh_platform* platform)
{
    memset(self, 0, sizeof *self);
    self->size = gh_client_memory(config);
    self->memory = aligned_alloc(64, (self->size + 63) / 64 * 64 + 64);
    gh_status status = GH_INVALID_MEMORY;
    const gh_platform* way = bench_tls_open(&self->tls, platform);
    if (self->memory != NULL && way != NULL)
    {
        status = gh_client_init(self->memory, self->size, config, way, &self->client);
    }
    if (status != GH_OK)
    {
        fprintf(stderr, "  gh_client_init: %s\n", gh_status_text(status));
        bench_tls_close(&self->tls);
        free(self->memory);
        self->memory = NULL;
        return false;
    }
    uint64_t give_up_us = bench_now_us() + READY_WITHIN_US;
    while (!gh_client_ready(self->client) ||
           (config->wake && gh_client_link_state(self->client, GH_LINK_WAKE) != GH_LINK_READY))
    {
        gh_tick(self->client, bench_now_us(), 0);
        bench_sleep_us(PAUSE_US);
        if (bench_now_us() > give_up_us)
        {
            fprintf(stderr, "  a client did not become ready\n");
            bench_client_close(self);
            return false;
        }
    }
    return true;
}

void bench_client_close(bench_client* self)
{
    if (self->memory != NULL)
    {
        gh_client_shutdown(self->client);
        bench_tls_close(&self->tls);
        free(self->memory);
        memset(self, 0, sizeof *self);
    }
}

void bench_client_wake(bench_client* self)
{
    gh_tick(self->client, bench_now_us(), 0);
}

static size_t sockets_of(const bench_client* client, struct pollfd* sockets)
{
    size_t count = 0;
    for (int link = GH_LINK_COMMANDS; link <= GH_LINK_WAKE; link++)
    {
        bool want_write = false;
        intptr_t handle = gh_client_fd(client->client, (gh_link_name)link, &want_write);
        if (handle >= 0)
        {
            sockets[count].fd = (int)handle;
            sockets[count].events = (short)(want_write ? POLLIN | POLLOUT : POLLIN);
            count++;
        }
    }
    return count;
}

void bench_clients_wait(const bench_client* clients, size_t count, uint64_t at_most_us)
{
    struct pollfd sockets[2 * CLIENTS_MAX];
    size_t socket_count = 0;
    uint64_t now_us = bench_now_us();
    uint64_t until_us = now_us + at_most_us;
    for (size_t i = 0; i < count && i < CLIENTS_MAX; i++)
    {
        if (clients[i].memory == NULL)
        {
            continue;
        }
        uint64_t due_us = gh_next_deadline(clients[i].client);
        until_us = due_us < until_us ? due_us : until_us;
        socket_count += sockets_of(&clients[i], sockets + socket_count);
    }
    uint64_t sleep_us = until_us <= now_us ? 0 : until_us - now_us;
    (void)bench_poll(sockets, socket_count, (int)((sleep_us + 999) / 1000));
}
