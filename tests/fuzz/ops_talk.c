/* ops_talk.c -- mailboxes and chats. */

#include "ops.h"

#define BUFFER 1024u

/* ---- mailbox ----------------------------------------------------------------------------------------------------- */

static void draw_mailbox(gh_mailbox* made, ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_mailbox_config config = gh_mailbox_config_default();
    config.timeout_us = ops_time(input, config.timeout_us);
    OPS_VARY(input, config.capacity, uint32_t);
    gh_mailbox_init(made, client, ops_name(place, input), &config);
}

static gh_post* draw_posts(ops_place* place, fuzz_input* input, size_t count)
{
    gh_post* posts = OPS_LEND_ARRAY(place, gh_post, count);
    for (size_t i = 0; i < count; i++)
    {
        if (fuzz_bit(input)) posts[i].sender = ops_lent_name(place, input);
        posts[i].body = ops_lent_text(place, input, 300);
    }
    return posts;
}

static gh_status mail_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_mailbox box;
    draw_mailbox(&box, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    return gh_mailbox_push_begin(OPS_OP(place, gh_mailbox_push), &box, draw_posts(place, input, there), count);
}

/* Each lies in the buffer, whole. */
static void must_be_messages(const gh_message* messages, uint32_t count, const void* buffer, size_t size)
{
    const char* begin = buffer;
    FUZZ_MUST(count <= size / sizeof(gh_message));
    for (uint32_t i = 0; i < count; i++)
    {
        const gh_message* each = &messages[i];
        FUZZ_MUST((const char*)each >= begin && (const char*)(each + 1) <= begin + size);
        FUZZ_MUST(each->sender.size == 0 ||
                  (each->sender.bytes >= begin && each->sender.bytes + each->sender.size <= begin + size));
        FUZZ_MUST(each->body.size == 0 ||
                  (each->body.bytes >= begin && each->body.bytes + each->body.size <= begin + size));
        FUZZ_MUST(each->sender.size <= GH_NAME_SIZE_MAX);
        FUZZ_MUST(each->status == GH_OK || each->status == GH_TOO_LARGE);
        if (each->status == GH_OK) FUZZ_MUST(each->body_size == each->body.size);
        if (i > 0) FUZZ_MUST(each->id == messages[i - 1].id + 1);
        fuzz_touch(each->sender);
        fuzz_touch(each->body);
    }
}

static gh_status letters_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_mailbox box;
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    draw_mailbox(&box, place, client, input);
    config.wait_us = fuzz_bit(input) ? 0 : ops_time(input, WORLD_SECOND_US);
    if (fuzz_byte(input) > 192) config.after = ops_vary(input, 3);
    if (config.after > 0) config.epoch = ops_vary(input, 7);
    OPS_VARY(input, config.messages_max, uint32_t);
    config.newest = fuzz_bit(input);
    config.buffer = ops_room(place, input, BUFFER, &config.buffer_size);
    place->more = config.buffer;
    return gh_mailbox_fetch_begin(OPS_OP(place, gh_mailbox_fetch), &box, &config);
}

static void letters_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_mailbox_fetch* fetch = (const gh_mailbox_fetch*)place->op;
    (void)client;
    (void)input;
    if (gh_op_poll(&fetch->op) == GH_OK)
        must_be_messages(fetch->messages, fetch->count, place->more, fetch->buffer_size);
}

static gh_status handled_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_mailbox box;
    draw_mailbox(&box, place, client, input);
    return gh_mailbox_commit_begin(OPS_OP(place, gh_mailbox_commit), &box, ops_vary(input, 7), ops_vary(input, 3));
}

/* ---- chat -------------------------------------------------------------------------------------------------------- */

static void draw_chat(gh_chat* made, ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat_config config = gh_chat_config_default();
    config.timeout_us = ops_time(input, config.timeout_us);
    OPS_VARY(input, config.keep, uint32_t);
    OPS_VARY(input, config.members_max, uint32_t);
    config.refuse_when_full = fuzz_bit(input);
    gh_chat_init(made, client, ops_name(place, input), &config);
}

static gh_status create_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat chat;
    draw_chat(&chat, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    gh_str* names = OPS_LEND_ARRAY(place, gh_str, there);
    for (size_t i = 0; i < there; i++) names[i] = ops_lent_name(place, input);
    const gh_post* first = fuzz_bit(input) ? draw_posts(place, input, 1) : NULL;
    return gh_chat_create_begin(OPS_OP(place, gh_chat_change), &chat, names, count, first);
}

static gh_status join_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat chat;
    draw_chat(&chat, place, client, input);
    const gh_chat_from from = fuzz_bit(input) ? GH_CHAT_FROM_START : GH_CHAT_FROM_NOW;
    return gh_chat_join_begin(OPS_OP(place, gh_chat_change), &chat, ops_name(place, input), from);
}

static gh_status leave_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat chat;
    draw_chat(&chat, place, client, input);
    return gh_chat_leave_begin(OPS_OP(place, gh_chat_change), &chat, ops_name(place, input));
}

static gh_status send_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat chat;
    draw_chat(&chat, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    return gh_chat_send_begin(OPS_OP(place, gh_chat_send), &chat, draw_posts(place, input, there), count);
}

static gh_chat_member* draw_members(ops_place* place, fuzz_input* input, size_t count)
{
    gh_chat_member* members = OPS_LEND_ARRAY(place, gh_chat_member, count);
    for (size_t i = 0; i < count; i++)
    {
        members[i].name = ops_lent_name(place, input);
        if (fuzz_bit(input)) members[i].handled = ops_vary(input, 3);
        if (fuzz_byte(input) > 192) members[i].handled_epoch = ops_vary(input, 7);
    }
    return members;
}

/* Again with the same op and the same members, as a server does: it goes on where it was. */
typedef struct reading
{
    gh_chat_member* members;
    size_t count;
    gh_chat_fetch_config config;
} reading;

static gh_status fetch_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat chat;
    reading* more = place->more = OPS_LEND(place, reading);
    draw_chat(&chat, place, client, input);
    more->config = gh_chat_fetch_config_default();
    more->config.wait_us = fuzz_bit(input) ? 0 : ops_time(input, WORLD_SECOND_US);
    OPS_VARY(input, more->config.messages_max, uint32_t);
    more->config.buffer = ops_room(place, input, BUFFER, &more->config.buffer_size);
    more->count = ops_count(input, 3);
    more->members = draw_members(place, input, more->count > 4 ? 0 : more->count);
    return gh_chat_fetch_begin(OPS_OP(place, gh_chat_fetch), &chat, more->members, more->count, &more->config);
}

static void fetch_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat_fetch* fetch = (gh_chat_fetch*)place->op;
    reading* more = place->more;
    gh_chat chat;
    if (gh_op_is_busy(&fetch->op) || more->count > 4) return;
    if (gh_op_poll(&fetch->op) == GH_OK)
        must_be_messages(fetch->messages, fetch->count, more->config.buffer, more->config.buffer_size);
    if (client == NULL || fetch->chat.size == 0) return;
    for (size_t i = 0; i < more->count; i++)
        if (fuzz_bit(input) && fetch->last_id > 0) more->members[i].handled = fetch->last_id;
    gh_chat_init(&chat, client, gh_name_str(&fetch->chat), NULL);
    if (gh_chat_fetch_begin(fetch, &chat, more->members, more->count, &more->config) == GH_OK)
        place->ended = GH_PENDING;
    else place->ended = gh_op_poll(&fetch->op);
}

static gh_status commit_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat chat;
    draw_chat(&chat, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    gh_chat_member* members = draw_members(place, input, there);
    return gh_chat_commit_begin(OPS_OP(place, gh_chat_commit), &chat, ops_vary(input, 7), members, count);
}

static gh_status list_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat_list_config config = gh_chat_list_config_default();
    const size_t count = ops_count(input, 4), there = count > 5 ? 0 : count;
    config.timeout_us = ops_time(input, config.timeout_us);
    gh_chat_item* items = OPS_LEND_ARRAY(place, gh_chat_item, there);
    return gh_chat_list_begin(OPS_OP(place, gh_chat_list), client, ops_name(place, input), items, there, &config);
}

static void list_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_chat_list* list = (const gh_chat_list*)place->op;
    (void)client;
    (void)input;
    if (gh_op_poll(&list->op) != GH_OK) return;
    FUZZ_MUST(list->count >= 1);
    for (uint32_t i = 0; i < list->count; i++) FUZZ_MUST(list->items[i].name.bytes == list->items[i].name_bytes);
}

static gh_status members_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat chat;
    draw_chat(&chat, place, client, input);
    const size_t count = ops_count(input, 6), there = count > 7 ? 0 : count;
    gh_chat_member_item* items = OPS_LEND_ARRAY(place, gh_chat_member_item, there);
    return gh_chat_members_begin(OPS_OP(place, gh_chat_members), &chat, items, there);
}

/* ---- feed -------------------------------------------------------------------------------------------------------- */

#define FEED_ROOMS   2u
#define FEED_SEATS   4u
#define FEED_PLAYERS 2u

typedef struct feeding
{
    gh_chat_player* players;
    gh_chat_room* held;
} feeding;

static gh_status feed_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat_feed_config config = gh_chat_feed_config_default();
    feeding* more = place->more = OPS_LEND(place, feeding);
    config.rooms = OPS_LEND_ARRAY(place, gh_chat_room, FEED_ROOMS);
    config.room_count = FEED_ROOMS;
    config.seats = OPS_LEND_ARRAY(place, gh_chat_seat, FEED_SEATS);
    config.seat_count = FEED_SEATS;
    config.buffer = ops_room(place, input, FEED_ROOMS * GH_CHAT_ROOM_SIZE_MIN, &config.buffer_size);
    OPS_VARY(input, config.messages_max, uint32_t);
    config.list_us = ops_time(input, WORLD_SECOND_US);
    more->players = OPS_LEND_ARRAY(place, gh_chat_player, FEED_PLAYERS);
    const gh_status status = gh_chat_feed_begin(OPS_OP(place, gh_chat_feed), client, &config);
    if (status == GH_OK) gh_chat_feed_add((gh_chat_feed*)place->op, &more->players[0], ops_name(place, input));
    return status;
}

static void feed_room(gh_chat_feed* feed, feeding* more)
{
    if (more->held == NULL) more->held = gh_chat_feed_next(feed);
    else
    {
        for (gh_chat_seat* seat = gh_chat_room_seat(more->held, NULL); seat != NULL;
             seat = gh_chat_room_seat(more->held, seat))
            FUZZ_MUST(seat->player == &more->players[0] || seat->player == &more->players[1]);
        gh_chat_feed_done(feed, more->held, true);
        more->held = NULL;
    }
}

static void feed_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_chat_feed* feed = (gh_chat_feed*)place->op;
    feeding* more = place->more;
    gh_chat_player* player = &more->players[fuzz_below(input, FEED_PLAYERS)];
    gh_chat_line line;
    (void)client;
    switch (fuzz_below(input, 5))
    {
    case 0: gh_chat_feed_add(feed, player, ops_lent_name(place, input)); break;
    case 1: gh_chat_feed_refresh(feed, player); break;
    case 2: gh_chat_feed_remove(feed, player); break;
    case 3: feed_room(feed, more); break;
    default:
        if (more->held != NULL) break; /* rooms or lines: one of the two at a time */
        for (int i = 0; i < 16 && gh_chat_feed_line(feed, &line); i++)
        {
            FUZZ_MUST(line.player == &more->players[0] || line.player == &more->players[1]);
            FUZZ_MUST(line.message->id > 0);
        }
        break;
    }
}

static bool feed_leave(ops_place* place)
{
    gh_chat_feed_end((gh_chat_feed*)place->op);
    gh_op_detach(place->op); /* with a tag it would have to stay until its end was seen */
    return !gh_op_is_busy(place->op);
}

const ops_kind ops_talk[] = {
    {"mail", mail_begin, NULL, NULL},
    {"letters", letters_begin, letters_use, NULL},
    {"letters handled", handled_begin, NULL, NULL},
    {"chat create", create_begin, NULL, NULL},
    {"chat join", join_begin, NULL, NULL},
    {"chat leave", leave_begin, NULL, NULL},
    {"chat send", send_begin, NULL, NULL},
    {"chat fetch", fetch_begin, fetch_use, NULL},
    {"chat commit", commit_begin, NULL, NULL},
    {"chat list", list_begin, list_use, NULL},
    {"chat members", members_begin, NULL, NULL},
    {"chat feed", feed_begin, feed_use, feed_leave},
    {NULL, NULL, NULL, NULL},
};
