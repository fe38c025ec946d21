/* lock.c -- an owner hangs, its lock goes to the next, who sees whom it waits for, and its late write is refused: LOST,
   and the fence.

       lock unix:/tmp/redis.sock        lock 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

enum
{
    LOCK = 1,
    LOOK,
    WRITE
}; /* the tags: what an op is to us */
static const char* const called[] = {[LOCK] = "lock", [LOOK] = "look", [WRITE] = "write"};

/* A game server; here both are in one program. */
typedef struct server
{
    const char* name;
    gh_client* client;
    gh_lock lock;
    gh_lock_look look;
    gh_command write;
    gh_str arguments[3]; /* of the write, in place until it has ended */
    _Alignas(16) unsigned char memory[256 * 1024];
} server;

static server first = {.name = "server 1"}, second = {.name = "server 2"};

static gh_status start(server* s, const char* address)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(address);
    s->lock.op.tag = LOCK, s->look.op.tag = LOOK, s->write.op.tag = WRITE;
    return gh_client_init(s->memory, sizeof s->memory, &config, gh_platform_default(), &s->client);
}

/* For the screen of who waits: a number, which each server of a fleet would log beside its name. */
static void show_holder(const server* s)
{
    const char* name = s->look.client == gh_client_id(first.client) ? first.name : second.name;
    printf("%s: %s has had it for %llu us, for %llu more if it hangs\n", s->name, name,
           (unsigned long long)s->look.held_us, (unsigned long long)s->look.remaining_us);
}

/* All outcomes come by here, those of begins that were refused, too. */
static void frame(server* s)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(s->client, platform->now_us(platform->context), 500);
    for (gh_op* op; (op = gh_client_next(s->client)) != NULL;)
        if (op->tag == LOCK && op->status == GH_HELD)
            printf("%s: the sword is ours, fence %llu\n", s->name, (unsigned long long)s->lock.fence);
        else if (op->tag == LOOK && op->status == GH_OK) show_holder(s);
        else if (op->status != GH_PENDING)
            printf("%s: the %s: %s\n", s->name, called[op->tag], gh_status_text(op->status));
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

static void take(server* s)
{
    gh_lock_config want = gh_lock_config_default();
    want.lease_us = 500 * 1000; /* so long a server that hangs holds up the others */
    gh_lock_begin(&s->lock, s->client, gh_str_literal("sword 7"), &want);
    for (; gh_op_poll(&s->lock.op) == GH_PENDING; frame(s))
        if (s->lock.position > 0 && gh_op_poll(&s->look.op) == GH_IDLE) /* another has it: who? */
            gh_lock_look_begin(&s->look, s->client, gh_str_literal("sword 7"), NULL);
}

/* Carried out only while this very grant is the current one: the store decides that in the same step. */
static void begin_write(server* s)
{
    gh_command_config config = gh_command_config_default();
    config.fence = gh_lock_fence(&s->lock);
    s->arguments[0] = gh_str_literal("SET"), s->arguments[1] = gh_str_literal("owner of sword 7");
    s->arguments[2] = gh_str_of(s->name);
    gh_command_begin(&s->write, s->client, s->arguments, 3, &config);
}

int main(int argc, char** argv)
{
    const char* address = argc > 1 ? argv[1] : "unix:/tmp/redis.sock";
    gh_status status = start(&first, address);
    if (status == GH_OK) status = start(&second, address);
    if (status != GH_OK) return fprintf(stderr, "lock: %s\n", gh_status_text(status)), 1;

    take(&first);
    take(&second); /* server 1 loads a level: no frame and no tick, until another has the sword */
    begin_write(&second);
    while (gh_op_poll(&second.write.op) == GH_PENDING) frame(&second);

    if (gh_op_poll(&first.lock.op) == GH_HELD) /* as of its last tick, which is long ago: there was no frame since */
        begin_write(&first);
    while (gh_op_poll(&first.write.op) == GH_PENDING) frame(&first); /* the first tick says LOST, before all else */

    gh_lock_release(&second.lock);
    while (gh_op_poll(&second.lock.op) == GH_PENDING) frame(&second);
    gh_client_shutdown(first.client);
    gh_client_shutdown(second.client);
    bool good = gh_op_poll(&first.lock.op) == GH_LOST && gh_op_poll(&first.write.op) == GH_FENCED;
    return good && gh_op_poll(&second.write.op) == GH_OK ? 0 : 1;
}
