/* chat.c -- two players of this server in one chat: a join, what is unread, one read for both, a leave.

       chat unix:/tmp/redis.sock        chat 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

#define SHOW(str) (int)(str).size, (str).bytes /* for %.*s */

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(8) char messages[4 * GH_CHAT_ROOM_SIZE_MIN];
static gh_chat_room rooms[4]; /* as many chats as the players of this server are in together */
static gh_chat_seat seats[8];
static const gh_str raid_name = GH_STR_INIT("raid 7");
static gh_client* client;
static gh_chat raid;
static gh_chat_feed feed;
static unsigned shown;

/* Each chat is read once for all who are in it; a message is shown to those to whom it is new. */
static void show_chats(void)
{
    for (gh_chat_line line; gh_chat_feed_line(&feed, &line); shown++) /* the one before is handled by now */
        printf("to %.*s: %.*s: %.*s\n", SHOW(line.player->name), SHOW(line.message->sender), SHOW(line.message->body));
}

static void frame(void)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(client, platform->now_us(platform->context), 500);
    show_chats();
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

/* How an op has ended; a begin that was refused has, too. A game would look in each frame. */
static gh_status end_of(gh_op* op)
{
    while (gh_op_poll(op) == GH_PENDING) frame();
    return gh_op_poll(op);
}

static gh_status say(gh_str sender, const char* words)
{
    static gh_chat_send send;
    gh_post post = {.sender = sender, .body = gh_str_of(words)};
    gh_chat_send_begin(&send, &raid, &post, 1); /* more of a frame's posts would go in the same request */
    return end_of(&send.op);
}

/* Of a player on any server, or on none. -1: there was no answer. */
static int64_t unread_of(gh_str player)
{
    static gh_chat_list list;
    static gh_chat_item items[4];
    gh_chat_list_begin(&list, client, player, items, 4, NULL);
    gh_status status = end_of(&list.op);
    for (uint32_t i = 0; status == GH_OK && i < list.count; i++)
        if (gh_str_equal(items[i].name, raid_name)) return (int64_t)items[i].unread;
    return status == GH_OK || status == GH_EMPTY ? 0 : -1;
}

static gh_status begin_feed(void)
{
    gh_chat_feed_config want = gh_chat_feed_config_default();
    want.rooms = rooms, want.room_count = 4, want.seats = seats, want.seat_count = 8;
    want.buffer = messages, want.buffer_size = sizeof messages;
    return gh_chat_feed_begin(&feed, client, &want);
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_str jason = gh_str_literal("jason"), jeff = gh_str_literal("jeff");
    static gh_chat_change change;
    static gh_chat_player players[2];

    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);
    if (status == GH_OK) status = gh_chat_init(&raid, client, raid_name, NULL);
    if (status == GH_OK) status = begin_feed();
    if (status == GH_OK) status = gh_chat_create_begin(&change, &raid, &jason, 1, NULL);
    if (status == GH_OK) status = end_of(&change.op);
    if (status == GH_OK) status = say(jason, "nobody here yet");
    if (status == GH_OK) status = gh_chat_join_begin(&change, &raid, jeff, GH_CHAT_FROM_NOW);
    if (status == GH_OK) status = end_of(&change.op);
    if (status == GH_OK) status = say(jason, "ready?");
    if (status == GH_OK) status = say(jeff, "one minute");
    if (status == GH_OK) printf("jeff has %d unread\n", (int)unread_of(jeff));

    if (status == GH_OK) status = gh_chat_feed_add(&feed, &players[0], jason); /* both log in here */
    if (status == GH_OK) status = gh_chat_feed_add(&feed, &players[1], jeff);
    for (int frames = 600; status == GH_OK && unread_of(jeff) != 0 && frames > 0; frames--) frame();
    if (status == GH_OK) printf("jeff has %d unread\n", (int)unread_of(jeff));

    if (status == GH_OK) status = gh_chat_leave_begin(&change, &raid, jeff);
    if (status == GH_OK) status = end_of(&change.op);
    if (status == GH_OK) printf("jeff has left, %u stays\n", change.members);
    if (status == GH_OK) status = say(jason, "alone again");
    for (int frames = 600; status == GH_OK && unread_of(jason) != 0 && frames > 0; frames--) frame();
    if (status == GH_OK) status = gh_chat_leave_begin(&change, &raid, jason); /* the chat goes, too */
    if (status == GH_OK) status = end_of(&change.op);
    gh_chat_feed_end(&feed);
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "chat: %s\n", gh_status_text(status));
    return status == GH_OK && shown == 6 ? 0 : 1;
}
