/* chat.c -- two players of this server in one chat: makes it, talks in it, and reads it once for both.

       chat unix:/tmp/redis.sock        chat 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"
#include "platform.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(8) char messages[4 * GH_CHAT_ROOM_SIZE_MIN];
static gh_chat_room rooms[4]; /* as many chats as the players of this server are in together */
static gh_chat_seat seats[8];

static void frame(gh_client* client)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(client, platform->now_us(platform->context), 500);
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    if (gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client) != GH_OK) return 1;

    gh_str raid = gh_str_literal("raid 7"), names[] = {gh_str_literal("jason"), gh_str_literal("jeff")};
    gh_post posts[] = {{.sender = names[0], .body = gh_str_literal("ready?")},
                       {.sender = names[1], .body = gh_str_literal("one minute")}};
    gh_chat_change change = {0};
    gh_chat_create_begin(&change, client, raid, names, 2, NULL, NULL);
    while (gh_chat_change_poll(&change) == GH_PENDING) frame(client);
    gh_chat_send send = {0};
    gh_chat_send_begin(&send, client, raid, posts, 2, 0); /* what this frame has to say, in one request */
    gh_chat_feed feed = {0};
    gh_chat_player players[2] = {{.user = NULL}};
    gh_chat_feed_config want = gh_chat_feed_config_default();
    want.rooms = rooms, want.room_count = 4, want.seats = seats, want.seat_count = 8;
    want.buffer = messages, want.buffer_size = sizeof messages;
    gh_chat_feed_begin(&feed, client, &want);
    for (int i = 0; i < 2; i++) gh_chat_feed_add(&feed, &players[i], names[i]);
    unsigned shown = 0;
    for (int frames = 600; frames > 0; frames--, frame(client)) /* ten seconds at most */
        for (gh_chat_room* room; (room = gh_chat_feed_next(&feed)) != NULL; frames = 30)
        {
            const gh_message* said = room->fetch.messages; /* each once, for all players who want it */
            for (uint32_t i = 0; i < room->fetch.count; i++, shown++)
                printf("%.*s: %.*s\n", (int)said[i].sender.size, said[i].sender.bytes, (int)said[i].body.size,
                       said[i].body.bytes);
            gh_chat_feed_done(&feed, room, true); /* all players here have seen them: said by itself */
        }
    gh_chat_feed_end(&feed);
    gh_client_shutdown(client);
    return shown >= 2 ? 0 : 1;
}
