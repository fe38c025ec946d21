/* tls_scene.c -- a server that speaks TLS, and a client that does. */

#include "tls/tls_scene.h"

#include "support/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tls_server tls_server_start(const char* certificate, bool asks_clients)
{
    static const char* const asking[] = {"--tls-auth-clients", "yes", NULL};
    tls_server self = {0};
    redis_server_options options = {.tcp = true, .tls = certificate, .arguments = asks_clients ? asking : NULL};
    self.redis = redis_server_start(&options);
    snprintf(self.address, sizeof(self.address), "%s", redis_server_tcp_address(self.redis));
    self.port = (uint16_t)atoi(strrchr(self.address, ':') + 1);
    return self;
}

/* All in one step, as they must fit each other. */
void tls_set_certificate(redis_server* server, const char* certificate)
{
    char pem[32], key[32];
    snprintf(pem, sizeof(pem), "%s.pem", certificate);
    snprintf(key, sizeof(key), "%s.key", certificate);
    redis_server_do(server, "CONFIG SET tls-cert-file %s tls-key-file %s tls-ca-cert-file %s tls-auth-clients no",
                    papers_path(pem), papers_path(key), papers_path("root.pem"));
}

static void note_line(void* context, gh_log_level level, gh_str text)
{
    tls_scene* self = context;
    size_t room = sizeof(self->log) - self->log_size;
    (void)level;
    int size = snprintf(self->log + self->log_size, room, "%.*s\n", (int)text.size, text.bytes);
    if (size > 0 && (size_t)size < room) self->log_size += (size_t)size;
}

static void end_parts(tls_scene* self)
{
    if (self->client != NULL) gh_client_shutdown(self->client);
    gh_tls_shutdown(self->tls);
    free(self->memory);
    free(self->block);
    self->memory = self->block = NULL;
    self->client = NULL;
    self->tls = NULL;
}

static void end_thing(void* thing)
{
    tls_scene* self = thing;
    end_parts(self);
    free(self);
}

tls_scene* tls_scene_new(const char* address)
{
    tls_scene* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    cleanup_add(end_thing, self);
    self->config = gh_tls_config_default();
    self->config.credentials.roots = papers_read("root.pem");
    self->config.hooks.log = note_line;
    self->config.hooks.context = self;
    self->client_config = gh_client_config_default();
    self->client_config.address = gh_str_of(address);
    self->client_config.hooks = self->config.hooks;
    self->client_config.connect_timeout_us *= suite_patience();
    self->client_config.request_timeout_us *= suite_patience();
    self->inner = gh_platform_default();
    return self;
}

gh_status tls_scene_init(tls_scene* self)
{
    size_t size = self->block_size == 0 ? gh_tls_memory(&self->config) : self->block_size;
    assert_int_equal(posix_memalign(&self->block, 16, size + 16), 0);
    memset(self->block, 0xa5, size + 16);
    gh_status status = gh_tls_init(self->block, size, &self->config, self->inner, &self->tls);
    for (size_t i = 0; i < 16; i++) assert_int_equal(((unsigned char*)self->block)[size + i], 0xa5);
    return status;
}

void tls_scene_start(tls_scene* self)
{
    assert_int_equal(tls_scene_init(self), GH_OK);
    tls_scene_connect(self);
}

void tls_scene_connect(tls_scene* self)
{
    size_t size = gh_client_memory(&self->client_config);
    assert_int_equal(posix_memalign(&self->memory, 16, size), 0);
    assert_int_equal(
        gh_client_init(self->memory, size, &self->client_config, gh_tls_platform(self->tls), &self->client), GH_OK);
}

void tls_scene_end(tls_scene* self)
{
    cleanup_forget(self);
    end_thing(self);
}

void tls_scene_tick(tls_scene* self)
{
    assert_int_equal(gh_tick(self->client, wait_now_us(), 0), GH_OK);
}

void tls_scene_ready(tls_scene* self)
{
    TLS_UNTIL(self, gh_client_ready(self->client));
}

void tls_scene_says(tls_scene* self, const char* words)
{
    TLS_UNTIL(self, strstr(self->log, words) != NULL);
}

void tls_scene_use(tls_scene* self)
{
    gh_lock lock = GH_ZERO;
    gh_lock_config config = gh_lock_config_default();
    assert_int_equal(gh_lock_begin(&lock, self->client, gh_str_literal("sword"), &config), GH_OK);
    TLS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING);
    assert_int_equal(gh_op_poll(&lock.op), GH_HELD);
    gh_lock_release(&lock);
    TLS_UNTIL(self, gh_op_poll(&lock.op) != GH_PENDING && gh_op_poll(&lock.op) != GH_HELD);
    assert_int_equal(gh_op_poll(&lock.op), GH_OK);
}
