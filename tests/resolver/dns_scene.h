/* dns_scene.h -- a gh_dns, the name server that it asks, and perhaps clients that use it. */

#ifndef GUILDHALL_TESTS_DNS_SCENE_H
#define GUILDHALL_TESTS_DNS_SCENE_H

#include "resolver/name_server.h"
#include "support/suite.h"
#include "support/wait.h"

#include "guildhall/guildhall.h"
#include "guildhall/resolver.h"

#define DNS_CLIENTS 4

typedef struct dns_scene
{
    gh_dns_config config;
    gh_client_config client_config;
    name_server* names; /* NULL: the machine's */
    gh_platform platform;
    uint64_t ahead_us; /* of the clock that the gh_dns sees */
    uint64_t looked_us; /* when it last did; 0: never */
    void* block;
    gh_dns* dns;
    void* memory[DNS_CLIENTS];
    gh_client* clients[DNS_CLIENTS];
    unsigned clients_count;
    uint64_t longest_us; /* of the ticks that slept; others may have lost the processor */
    uint64_t ticks;
    char log[16384]; /* "<level> <line>", one behind the other */
    size_t log_size;
} dns_scene;

/* Change config and client_config between new and make. Ended after the test. */
dns_scene* dns_scene_new(name_server* names);
gh_status dns_scene_make(dns_scene* self);

/* Nothing was written behind the block. */
void dns_scene_assert_whole(const dns_scene* self);

/* One more client, of a gh_dns that was made. */
gh_client* dns_scene_client(dns_scene* self, const char* address);

/* The name server answers, each client ticks. */
void dns_scene_turn(dns_scene* self);

/* Asks until it is told; text gets the address, or "". */
gh_status dns_scene_ask(dns_scene* self, const char* host, char text[64]);

/* Asks once, as in a tick. */
gh_status dns_scene_ask_once(dns_scene* self, const char* host, char text[64]);

/* How often the log says so. */
unsigned dns_scene_says(const dns_scene* self, const char* words);

#define DNS_UNTIL(scene, condition)                                                                                  \
    do                                                                                                               \
    {                                                                                                                \
        uint64_t dns_end_us = wait_cap_us();                                                                         \
        while (!(condition))                                                                                         \
        {                                                                                                            \
            if (wait_now_us() >= dns_end_us) fail_msg("waited too long for: %s\n%s", #condition, (scene)->log);       \
            dns_scene_turn(scene);                                                                                   \
            wait_briefly();                                                                                          \
        }                                                                                                            \
    } while (0)

#endif
