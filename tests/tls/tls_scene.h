/* tls_scene.h -- a server that speaks TLS, and a client that does. */

#ifndef GUILDHALL_TESTS_TLS_SCENE_H
#define GUILDHALL_TESTS_TLS_SCENE_H

#include "support/server/papers.h"
#include "support/server/redis_server.h"
#include "support/suite.h"
#include "support/wait.h"

#include "guildhall/guildhall.h"
#include "guildhall/tls.h"

typedef struct tls_server
{
    redis_server* redis;
    char address[32]; /* where it speaks TLS */
    uint16_t port;
} tls_server;

/* With a certificate of papers.h ("server"), and one asked of clients or not. */
tls_server tls_server_start(const char* certificate, bool asks_clients);

/* One of papers.h for a server that runs, from the next connection on. */
void tls_set_certificate(redis_server* server, const char* certificate);

/* A client on a gh_tls. Fill config and client_config between new and start. */
typedef struct tls_scene
{
    gh_tls_config config;
    gh_client_config client_config;
    const gh_platform* inner;
    size_t block_size; /* 0: what gh_tls_memory says */
    void* block;
    void* memory;
    gh_tls* tls;
    gh_client* client;
    char log[8192]; /* all lines so far */
    size_t log_size;
} tls_scene;

tls_scene* tls_scene_new(const char* address);
void tls_scene_start(tls_scene* self);
gh_status tls_scene_init(tls_scene* self); /* the gh_tls alone */
void tls_scene_connect(tls_scene* self);   /* then the client */
void tls_scene_end(tls_scene* self);       /* also done after the test */
void tls_scene_tick(tls_scene* self);

/* Ticks until the client is ready; or until its log says so. */
void tls_scene_ready(tls_scene* self);
void tls_scene_says(tls_scene* self, const char* words);

#define TLS_UNTIL(scene, condition)                                                                                    \
    do                                                                                                                 \
    {                                                                                                                  \
        uint64_t tls_end_us = wait_cap_us();                                                                           \
        while (!(condition))                                                                                           \
        {                                                                                                              \
            if (wait_now_us() >= tls_end_us) fail_msg("waited too long for: %s\n%s", #condition, (scene)->log);        \
            tls_scene_tick(scene);                                                                                     \
            wait_briefly();                                                                                            \
        }                                                                                                              \
    } while (0)

/* A lock taken and given back: bytes go both ways. */
void tls_scene_use(tls_scene* self);

#endif
