/* dns_scene.c -- a gh_dns, the name server that it asks, and perhaps clients that use it. */

#include "resolver/dns_scene.h"

#include "support/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define BEHIND      64               /* bytes behind the block, which are looked at */
#define STEP_MAX_US UINT64_C(100000) /* a longer pause between two looks at the clock counts as so much */

static void note_line(void* context, gh_log_level level, gh_str text)
{
    dns_scene* self = context;
    size_t room = sizeof(self->log) - self->log_size;
    int size = snprintf(self->log + self->log_size, room, "%d %.*s\n", (int)level, (int)text.size, text.bytes);
    if (size > 0 && (size_t)size < room) self->log_size += (size_t)size;
}

/* Less what a machine took that gave it to others, as in game.h. */
static uint64_t now_ahead(void* context)
{
    dns_scene* self = context;
    const uint64_t now_us = wait_now_us();
    const uint64_t stood_us = self->looked_us == 0 ? 0 : now_us - self->looked_us;
    if (stood_us > STEP_MAX_US) self->ahead_us -= stood_us - STEP_MAX_US;
    self->looked_us = now_us;
    return now_us + self->ahead_us;
}

static void end_scene(void* thing)
{
    dns_scene* self = thing;
    for (unsigned i = 0; i < self->clients_count; i++)
    {
        gh_client_shutdown(self->clients[i]);
        free(self->memory[i]);
    }
    gh_dns_shutdown(self->dns);
    free(self->block);
    free(self);
}

dns_scene* dns_scene_new(name_server* names)
{
    dns_scene* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    cleanup_add(end_scene, self);
    self->names = names;
    self->platform.now_us = now_ahead;
    self->platform.context = self;
    self->config = gh_dns_config_default();
    if (names != NULL) self->config.servers = gh_str_of(name_server_address(names));
    self->config.hooks.log = note_line;
    self->config.hooks.context = self;
    self->config.timeout_us *= suite_patience();
    self->client_config = gh_client_config_default();
    self->client_config.resolver = gh_dns_resolve;
    self->client_config.hooks = self->config.hooks;
    self->client_config.connect_timeout_us *= suite_patience();
    self->client_config.request_timeout_us *= suite_patience();
    return self;
}

gh_status dns_scene_make(dns_scene* self)
{
    size_t size = gh_dns_memory(&self->config);
    assert_int_equal(posix_memalign(&self->block, 16, size + BEHIND), 0);
    memset(self->block, 0xa5, size + BEHIND);
    gh_status status = gh_dns_init(self->block, size, &self->config, &self->platform, &self->dns);
    dns_scene_assert_whole(self);
    return status;
}

void dns_scene_assert_whole(const dns_scene* self)
{
    const unsigned char* behind = (const unsigned char*)self->block + gh_dns_memory(&self->config);
    for (size_t i = 0; i < BEHIND; i++) assert_int_equal(behind[i], 0xa5);
}

gh_client* dns_scene_client(dns_scene* self, const char* address)
{
    unsigned i = self->clients_count;
    gh_client_config config = self->client_config;
    assert_true(i < DNS_CLIENTS && self->dns != NULL);
    config.address = gh_str_of(address);
    config.resolver_context = self->dns;
    size_t size = gh_client_memory(&config);
    assert_int_equal(posix_memalign(&self->memory[i], 16, size), 0);
    assert_int_equal(gh_client_init(self->memory[i], size, &config, gh_platform_default(), &self->clients[i]), GH_OK);
    self->clients_count++;
    return self->clients[i];
}

/* How often this process went to sleep by itself. */
static long sleeps(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_nvcsw;
}

void dns_scene_turn(dns_scene* self)
{
    if (self->names != NULL) name_server_serve(self->names);
    for (unsigned i = 0; i < self->clients_count; i++)
    {
        uint64_t begin_us = wait_now_us();
        long slept = sleeps();
        assert_int_equal(gh_tick(self->clients[i], begin_us, 0), GH_OK);
        uint64_t took_us = wait_now_us() - begin_us;
        if (sleeps() > slept && took_us > self->longest_us) self->longest_us = took_us;
        self->ticks++;
    }
}

gh_status dns_scene_ask_once(dns_scene* self, const char* host, char text[64])
{
    gh_str numeric = gh_str_make(NULL, 0);
    gh_status status = gh_dns_resolve(self->dns, gh_str_of(host), &numeric);
    text[0] = '\0';
    if (status != GH_OK) return status;
    assert_true(numeric.size > 0 && numeric.size < 64);
    memcpy(text, numeric.bytes, numeric.size);
    text[numeric.size] = '\0';
    return status;
}

gh_status dns_scene_ask(dns_scene* self, const char* host, char text[64])
{
    uint64_t end_us = wait_cap_us();
    for (;;)
    {
        gh_status status = dns_scene_ask_once(self, host, text);
        if (status != GH_PENDING) return status;
        if (wait_now_us() >= end_us) fail_msg("never told where %s is\n%s", host, self->log);
        if (self->names != NULL) name_server_serve(self->names);
        wait_briefly();
    }
}

unsigned dns_scene_says(const dns_scene* self, const char* words)
{
    unsigned count = 0;
    for (const char* at = self->log; (at = strstr(at, words)) != NULL; at += strlen(words)) count++;
    return count;
}
