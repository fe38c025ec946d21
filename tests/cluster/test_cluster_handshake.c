/* The hand-shakes of several nodes at once: what one of them has told holds for the others, but not who they are. */

#include "cluster/machines.h"

#include <string.h>

#define TWO_MASTERS                                                                                                    \
    "*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$8\r\n10.0.0.1\r\n:7000\r\n"                                                     \
    "*3\r\n:8192\r\n:16383\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"

/* self->count: how often one was asked for its epoch as a server of which nothing is known. */
static const char* counts_unknown(machines* self, const char* host, const gh_str* words, size_t count)
{
    const gh_str end = gh_str_literal(":epoch");
    (void)host;
    if (count != 8 || !machines_is(words[0], "EVALSHA") || words[3].size < end.size) return NULL;
    if (memcmp(words[3].bytes + words[3].size - end.size, end.bytes, end.size) != 0) return NULL;
    if (machines_is(words[5], "-")) self->count++;
    return NULL;
}

static scripted_stream* stream_to(machines* all, const char* host)
{
    scripted_stream* at = all->world->streams;
    while (at < all->world->streams + SCRIPTED_STREAMS_MAX && !(at->open && strcmp(at->host, host) == 0)) at++;
    assert_true(at < all->world->streams + SCRIPTED_STREAMS_MAX);
    return at;
}

/* The second has not said who it is when the first has told how the scripts are called that both are asked by. */
static void who_is_not_known_yet_is_not_asked_for_its_epoch(void** state)
{
    (void)state;
    const byte_buffer none = {NULL, 0, 0};
    machines* all = machines_new();
    all->map = TWO_MASTERS;
    all->says = counts_unknown;
    machines_start(all, NULL);
    gh_command* first = machines_get(all, "sword", 60 * SECOND_US);
    gh_command* second = machines_get(all, "bow", 60 * SECOND_US);
    const size_t receive_max = all->world->receive_max;
    MACHINES_UNTIL(all, machines_stream(all, "10.0.0.2") != NULL, SECOND_US);
    all->world->receive_max = 0;
    MACHINES_UNTIL(all, stream_to(all, "10.0.0.2")->replies.size > 0, SECOND_US);
    const byte_buffer late = stream_to(all, "10.0.0.2")->replies;
    stream_to(all, "10.0.0.2")->replies = none;
    all->world->receive_max = receive_max;
    MACHINES_UNTIL(all, gh_op_poll(&first->op) == GH_OK, SECOND_US);
    assert_int_equal(gh_op_poll(&second->op), GH_PENDING);
    buffer_add(&stream_to(all, "10.0.0.2")->replies, late.bytes, late.size);
    MACHINES_UNTIL(all, gh_op_poll(&second->op) == GH_OK, SECOND_US);
    assert_int_equal(all->count, 0);
    byte_buffer over = late;
    buffer_free(&over);
}

TEST_FILE(cluster_handshake, cmocka_unit_test(who_is_not_known_yet_is_not_asked_for_its_epoch));
