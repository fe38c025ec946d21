/* chat_feed.c -- all chats of all players of this server: seats of players in rooms, one fetch a room.

   A player's op reads its list of chats and takes a seat in a room for each; a room's fetch serves the seats
   that it has. What the tick learns is put down where the next call of gh_chat_feed_next finds it, so that a
   room's chain of members never changes under a fetch that is going on. */

#include "base/hash.h"
#include "chat_read.h"
#include "client/refusal.h"
#include "wire/name.h"

#define FEED_WAIT_US     3600000000ull /* rooms wait as long as can be: hints and heartbeats make them ask */
#define FEED_RETRY_US    1000000ull    /* after a failure                                                 */
#define FEED_SOON_US     250000ull     /* a list with an entry that its chat does not know yet; doubles   */
#define FEED_LIST_MIN_US 1000000ull
#define FEED_LIST_MAX_US 3600000000ull
#define FEED_ROOMS_MAX   65536u
#define FEED_SEATS_MAX   1048576u
#define FEED_PAGE        48u /* names in one reply: fewer than the least of reply_nodes                  */

typedef enum feed_seat_state
{
    SEAT_FREE = 0,
    SEAT_JOINING, /* in room->joining: is in the next fetch                                 */
    SEAT_TAKEN,   /* in room->fetch.members                                                 */
    SEAT_DENIED   /* the chat does not know the player; its list is to be mended            */
} feed_seat_state;

typedef enum feed_player_state
{
    PLAYER_MENDING = 1, /* a stale entry of its list */
    PLAYER_LISTING,
    PLAYER_RESTING
} feed_player_state;

static gh_chat_player* feed_player_of(gh_op* op)
{
    return (gh_chat_player*)(void*)op;
}

static gh_chat_seat* seat_of_member(gh_chat_member* member)
{
    return (gh_chat_seat*)(void*)member; /* its first field */
}

/* ---- rooms --------------------------------------------------------------------------------------------- */

static gh_chat_room* room_home(const gh_chat_feed* feed, gh_str name)
{
    uint64_t share = gh_hash_seeded(name.bytes, name.size, feed->seed) >> 32; /* of 2^32 */
    return &feed->config.rooms[share * feed->config.room_count >> 32];
}

static gh_chat_room* room_find(const gh_chat_feed* feed, gh_str name)
{
    gh_chat_room* room = room_home(feed, name)->chain;
    while (room != NULL && !gh_str_equal(room->name, name)) room = room->next;
    return room;
}

static gh_chat_room* room_take(gh_chat_feed* feed, gh_str name)
{
    gh_chat_room* room = feed->free_rooms;
    gh_chat_room* home = room_home(feed, name);
    if (room == NULL) return NULL;
    feed->free_rooms = room->next;
    feed->rooms_used++;
    room->user = NULL;
    memset(&room->fetch, 0, sizeof room->fetch);
    memcpy(room->name_bytes, name.bytes, name.size);
    room->name = gh_str_make(room->name_bytes, name.size);
    room->joining = NULL;
    room->retry_us = 0;
    room->seats = 0;
    room->held = false;
    room->changed = false;
    room->next = home->chain;
    home->chain = room;
    return room;
}

static void room_give_back(gh_chat_feed* feed, gh_chat_room* room)
{
    gh_chat_room** link = &room_home(feed, room->name)->chain;
    gh_op_cancel(&room->fetch.op);
    while (*link != room) link = &(*link)->next;
    *link = room->next;
    room->name.size = 0;
    room->next = feed->free_rooms;
    feed->free_rooms = room;
    feed->rooms_used--;
}

/* ---- seats --------------------------------------------------------------------------------------------- */

static gh_chat_seat* seat_take(gh_chat_feed* feed, gh_chat_player* player, gh_chat_room* room)
{
    gh_chat_seat* seat = feed->free_seats;
    if (seat == NULL) return NULL;
    feed->free_seats = seat->next;
    feed->seats_used++;
    memset(seat, 0, sizeof *seat);
    seat->member.name = player->name;
    seat->member.status = GH_IDLE;
    seat->player = player;
    seat->room = room;
    seat->state = SEAT_JOINING;
    seat->member.next = room->joining;
    room->joining = &seat->member;
    room->changed = true;
    room->seats++;
    seat->next = player->seats;
    player->seats = seat;
    player->chats++;
    return seat;
}

static void chain_remove(gh_chat_member** link, const gh_chat_member* member)
{
    while (*link != NULL && *link != member) link = &(*link)->next;
    if (*link == member) *link = member->next;
}

/* Out of the room's chains; a fetch that is going on is stopped before its members change. */
static void seat_stand_up(gh_chat_seat* seat)
{
    gh_chat_room* room = seat->room;
    if (seat->state == SEAT_JOINING) chain_remove(&room->joining, &seat->member);
    if (seat->state == SEAT_TAKEN)
    {
        gh_op_cancel(&room->fetch.op);
        chain_remove(&room->fetch.members, &seat->member);
    }
}

static void seat_give_back(gh_chat_feed* feed, gh_chat_seat* seat)
{
    gh_chat_room* room = seat->room;
    gh_chat_player* player = seat->player;
    gh_chat_seat** link = &player->seats;
    if (feed->line_seat == seat) feed->line_seat = NULL;
    if (feed->line_next == &seat->member) feed->line_next = seat->member.next;
    seat_stand_up(seat);
    while (*link != seat) link = &(*link)->next;
    *link = seat->next;
    player->chats--;
    seat->state = SEAT_FREE;
    seat->next = feed->free_seats;
    feed->free_seats = seat;
    feed->seats_used--;
    if (--room->seats == 0 && !room->held) room_give_back(feed, room);
}

static gh_chat_seat* seat_find(const gh_chat_player* player, const gh_chat_room* room)
{
    gh_chat_seat* seat = player->seats;
    while (seat != NULL && seat->room != room) seat = seat->next;
    return seat;
}

static gh_chat_seat* seat_find_denied(const gh_chat_player* player)
{
    gh_chat_seat* seat = player->seats;
    while (seat != NULL && seat->state != SEAT_DENIED) seat = seat->next;
    return seat;
}

/* ---- players: their lists ------------------------------------------------------------------------------ */

static gh_script* feed_player_script(gh_op* op)
{
    return gh_client_script(op->client, op->state == PLAYER_MENDING ? &gh_chats_remove_lua : &gh_chats_list_lua);
}

static void feed_player_encode(gh_op* op, gh_request* request)
{
    const gh_chat_player* player = feed_player_of(op);
    switch ((feed_player_state)op->state)
    {
    case PLAYER_MENDING: gh_chat_encode_remove(op, request, player->name, player->mending->room->name, 0); break;
    case PLAYER_LISTING:
        gh_chat_encode_list(op, request, player->name, player->place, FEED_PAGE, player->feed->config.list_us * 2);
        break;
    case PLAYER_RESTING:
        GH_INVARIANT(op->client, false); /* nothing is asked in this one */
        request->full = true;
        break;
    }
}

/* Until the list is read again: soon, if a chat of the list does not know the player. It may be in the
 * making. */
static void player_rest(gh_chat_player* player)
{
    gh_client* client = player->op.client;
    uint64_t pause_us = player->feed->config.list_us;
    uint64_t soon_us = FEED_SOON_US << (player->tries < 16 ? player->tries : 16);
    bool mends = seat_find_denied(player) != NULL;
    if (mends && soon_us < pause_us) pause_us = soon_us;
    player->op.state = PLAYER_RESTING;
    gh_op_timer_after(&player->op, gh_client_jitter(client, pause_us));
}

/* Mends what is stale, one entry after the other, then reads the list. */
static void player_read_list(gh_chat_player* player)
{
    player->mending = seat_find_denied(player);
    player->place = 0;
    player->op.state = player->mending != NULL ? PLAYER_MENDING : PLAYER_LISTING;
    gh_op_listen(&player->op); /* before it is sent: a hint may overtake the answer */
    gh_op_timer(&player->op, GH_FOREVER);
    gh_op_send(&player->op, 0);
}

static void player_take_name(gh_chat_player* player, gh_str name)
{
    gh_chat_feed* feed = player->feed;
    gh_chat_room* room;
    if (!gh_name_is_valid(name)) return; /* not of our making */
    room = room_find(feed, name);
    if (room != NULL && seat_find(player, room) != NULL) return;
    if (feed->free_seats == NULL || (room == NULL && feed->free_rooms == NULL))
    {
        player->status = GH_FULL;
        return;
    }
    if (room == NULL) room = room_take(feed, name);
    seat_take(feed, player, room);
}

static void player_listed(gh_chat_player* player, const gh_reply* reply)
{
    uint64_t total = (uint64_t)gh_reply_integer(reply, GH_CHATS_LIST_CHATS);
    const gh_reply* name = gh_reply_at(reply, GH_CHATS_LIST_NAMES);
    bool page_is_empty = name == NULL;
    if (player->place == 0) player->status = GH_OK;
    for (; name != NULL; name = name->next, player->place++)
        if (name->type == GH_REPLY_STRING) player_take_name(player, name->text);
    if (player->place < total && player->place < GH_CHAT_LIST_MAX && !page_is_empty) gh_op_send(&player->op, 0);
    else player_rest(player);
}

static void player_replied(gh_chat_player* player, const gh_reply* reply)
{
    if (player->op.state == PLAYER_LISTING)
    {
        player_listed(player, reply);
        return;
    }
    if (player->mending != NULL) seat_give_back(player->feed, player->mending);
    if (player->tries < UINT16_MAX) player->tries++;
    player_read_list(player);
}

static void feed_player_step(gh_op* op, const gh_event* event)
{
    gh_chat_player* player = feed_player_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: player_replied(player, event->reply); break;
    case GH_EVENT_FAILED:
        player->status = event->status;
        player_rest(player);
        break;
    case GH_EVENT_TIMER: player_read_list(player); break;
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
        player->tries = 0; /* something has changed */
        if (op->state == PLAYER_RESTING) player_read_list(player);
        break;
    case GH_EVENT_CANCEL:
    case GH_EVENT_CLOSE: gh_op_end(op, gh_op_outcome(op, GH_REASON_CANCEL)); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static void feed_player_detach(gh_op* op)
{
    gh_chat_player* player = feed_player_of(op);
    if (player->feed != NULL) gh_chat_feed_remove(player->feed, player);
}

static const gh_op_kind feed_player_kind = {.name = "chat",
                                            .step = feed_player_step,
                                            .encode = feed_player_encode,
                                            .script = feed_player_script,
                                            .effect = GH_OP_READS,
                                            .trees = gh_tree_read,
                                            .detach = feed_player_detach};

/* ---- rounds -------------------------------------------------------------------------------------------- */

/* Those who came sit down; those who are not members, as the last fetch found, stand up. */
static void room_seat_all(gh_chat_room* room)
{
    gh_chat_member* member = room->fetch.members;
    while (member != NULL)
    {
        gh_chat_seat* seat = seat_of_member(member);
        member = member->next;
        if (seat->member.status != GH_NOT_MEMBER && seat->member.status != GH_GONE) continue;
        seat_stand_up(seat);
        seat->state = SEAT_DENIED;
        if (gh_op_is_busy(&seat->player->op) && seat->player->op.state == PLAYER_RESTING) player_rest(seat->player);
    }
    while (room->joining != NULL)
    {
        gh_chat_seat* seat = seat_of_member(room->joining);
        room->joining = seat->member.next;
        seat->state = SEAT_TAKEN;
        seat->member.next = room->fetch.members;
        room->fetch.members = &seat->member;
    }
    room->changed = false;
}

/* The next fetch, unless nobody sits here. */
static void room_go_on(gh_chat_feed* feed, gh_chat_room* room)
{
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    gh_chat chat;
    size_t place = (size_t)(room - feed->config.rooms);
    gh_op_cancel(&room->fetch.op);
    room_seat_all(room);
    if (room->fetch.members == NULL) return;
    config.wait_us = FEED_WAIT_US;
    config.messages_max = feed->config.messages_max;
    config.buffer = (char*)feed->config.buffer + place * feed->slice;
    config.buffer_size = feed->slice;
    gh_chat_init(&chat, feed->op.client, room->name, NULL);
    if (gh_chat_fetch_start(&room->fetch, &chat, room->fetch.members, &config) != GH_OK)
        room->retry_us = gh_client_after(feed->op.client, FEED_RETRY_US); /* ops_capacity is used up, for now */
}

/* True: it has messages for the caller. */
static bool room_look(gh_chat_feed* feed, gh_chat_room* room)
{
    gh_status status = gh_op_poll(&room->fetch.op);
    bool failed = status < 0 && status != GH_CANCELLED && status != GH_NOT_MEMBER && status != GH_GONE;
    if (room->name.size == 0 || room->held) return false;
    if (status == GH_OK && room->fetch.count > 0) return true; /* who came meanwhile waits for the next round */
    if (!gh_op_is_busy(&feed->op) || (status == GH_PENDING && !room->changed)) return false;
    if (room->retry_us == 0 && failed) room->retry_us = gh_client_after(feed->op.client, FEED_RETRY_US);
    if (room->retry_us > gh_client_now(feed->op.client) && !room->changed) return false;
    room->retry_us = 0;
    if (room->fetch.members != NULL || room->joining != NULL) room_go_on(feed, room);
    return false;
}

/* ---- the feed's own op asks for nothing: it is busy as long as there is a client to ask through ---------- */

/* Nothing of it asks any more; its players and rooms stay until gh_chat_feed_end. */
static void feed_stop(gh_chat_feed* feed)
{
    gh_chat_player* player;
    uint32_t i;
    for (player = feed->players; player != NULL; player = player->next) gh_op_cancel(&player->op);
    for (i = 0; i < feed->config.room_count; i++) gh_op_cancel(&feed->config.rooms[i].fetch.op);
    gh_op_end(&feed->op, GH_CANCELLED);
}

static void feed_step(gh_op* op, const gh_event* event)
{
    if (event->kind == GH_EVENT_CANCEL || event->kind == GH_EVENT_CLOSE) feed_stop((gh_chat_feed*)(void*)op);
}

static void feed_detach(gh_op* op)
{
    gh_chat_feed_end((gh_chat_feed*)(void*)op);
}

static const gh_op_kind feed_kind = {.name = "chat", .step = feed_step, .effect = GH_OP_READS, .detach = feed_detach};

static bool feed_has_begun(const gh_chat_feed* feed)
{
    return feed != NULL && feed->op.kind == &feed_kind;
}

/* ---- what the caller calls ----------------------------------------------------------------------------- */

static const gh_bound chat_feed_bounds_rows[] = {
    GH_BOUND(gh_chat_feed_config, room_count, 0, 1, FEED_ROOMS_MAX, GH_INVALID_LIMIT),
    GH_BOUND(gh_chat_feed_config, seat_count, 0, 1, FEED_SEATS_MAX, GH_INVALID_LIMIT),
    GH_BOUND(gh_chat_feed_config, messages_max, 64, 1, GH_CHAT_FETCH_MAX, GH_INVALID_LIMIT),
    GH_BOUND(gh_chat_feed_config, list_us, 10000000, FEED_LIST_MIN_US, FEED_LIST_MAX_US, GH_INVALID_TIMEOUT)};
static const gh_bounds chat_feed_bounds = GH_BOUNDS(gh_chat_feed_config, chat_feed_bounds_rows);

gh_chat_feed_config gh_chat_feed_config_default(void)
{
    gh_chat_feed_config config;
    gh_bounds_fill(&chat_feed_bounds, &config);
    return config;
}

static bool is_place_for(const void* memory, size_t size, size_t least)
{
    return memory != NULL && ((uintptr_t)memory & 7) == 0 && size >= least;
}

static gh_status check_feed(const gh_chat_feed_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&chat_feed_bounds, config, client);
    if (status != GH_OK) return status;
    if (!is_place_for(config->rooms, 0, 0) || !is_place_for(config->seats, 0, 0)) return GH_INVALID_BUFFER;
    return is_place_for(config->buffer, config->buffer_size, (size_t)config->room_count * GH_CHAT_ROOM_SIZE_MIN)
               ? GH_OK
               : GH_INVALID_BUFFER;
}

static gh_status chat_feed_try(gh_chat_feed* feed, gh_client* client, const gh_chat_feed_config* config)
{
    uint32_t i;
    size_t slice;
    gh_status status;
    status = gh_op_check(feed == NULL ? NULL : &feed->op, client);
    if (status != GH_OK) return status;
    if (feed_has_begun(feed)) return GH_INVALID_OP;
    status = check_feed(config, client);
    if (status != GH_OK) return status;
    gh_op_clear(&feed->op, sizeof *feed);
    gh_op_begin(&feed->op, client, &feed_kind);
    feed->seed = gh_client_id(client);
    feed->config = *config;
    slice = config->buffer_size / config->room_count & ~(size_t)7;
    feed->slice = slice > UINT32_MAX ? UINT32_MAX & ~7u : (uint32_t)slice;
    memset(config->rooms, 0, config->room_count * sizeof(gh_chat_room));
    memset(config->seats, 0, config->seat_count * sizeof(gh_chat_seat));
    for (i = config->room_count; i > 0; i--)
    {
        config->rooms[i - 1].next = feed->free_rooms;
        feed->free_rooms = &config->rooms[i - 1];
    }
    for (i = config->seat_count; i > 0; i--)
    {
        config->seats[i - 1].next = feed->free_seats;
        feed->free_seats = &config->seats[i - 1];
    }
    return GH_OK;
}

gh_status gh_chat_feed_begin(gh_chat_feed* feed, gh_client* client, const gh_chat_feed_config* config)
{
    bool has_begun = feed_has_begun(feed);
    gh_status status = gh_op_begun((gh_op*)feed, client, chat_feed_try(feed, client, config));
    if (has_begun) feed->op.kind = &feed_kind; /* refused: its seats and rooms are still to be given up */
    return status;
}

gh_status gh_chat_feed_add(gh_chat_feed* feed, gh_chat_player* player, gh_str name)
{
    gh_status status;
    if (!feed_has_begun(feed)) return GH_INVALID_OP;
    if (player == NULL || player->feed != NULL) return gh_op_refused_call(&feed->op, GH_INVALID_OP);
    if (!gh_op_is_at_work(&feed->op)) return GH_CLOSED;
    status = gh_op_check(&player->op, feed->op.client);
    if (status == GH_OK && !gh_name_is_valid(name)) status = GH_INVALID_NAME;
    if (status != GH_OK) return gh_op_refused_call(&feed->op, status);
    gh_name_keep(&player->kept_name, name);
    player->name = gh_name_str(&player->kept_name);
    player->chats = 0;
    player->status = GH_PENDING;
    player->feed = feed;
    player->seats = NULL;
    player->tries = 0;
    player->next = feed->players;
    feed->players = player;
    gh_op_begin(&player->op, feed->op.client, &feed_player_kind);
    player_read_list(player);
    return GH_OK;
}

static bool is_in_feed(const gh_chat_feed* feed, const gh_chat_player* player)
{
    return feed_has_begun(feed) && player != NULL && player->feed == feed;
}

void gh_chat_feed_remove(gh_chat_feed* feed, gh_chat_player* player)
{
    gh_chat_player** link;
    if (!is_in_feed(feed, player)) return;
    gh_op_end(&player->op, GH_CANCELLED);
    gh_op_forget_change(&player->op); /* its memory is the caller's again */
    while (player->seats != NULL) seat_give_back(feed, player->seats);
    link = &feed->players;
    while (*link != player) link = &(*link)->next;
    *link = player->next;
    player->feed = NULL;
    player->next = NULL;
}

void gh_chat_feed_refresh(gh_chat_feed* feed, gh_chat_player* player)
{
    if (!is_in_feed(feed, player) || !gh_op_is_busy(&player->op)) return;
    gh_op_hint(&player->op, 0);
}

gh_chat_room* gh_chat_feed_next(gh_chat_feed* feed)
{
    uint32_t i;
    if (!feed_has_begun(feed)) return NULL;
    for (i = 0; i < feed->config.room_count; i++)
    {
        gh_chat_room* room = &feed->config.rooms[feed->cursor];
        feed->cursor = (feed->cursor + 1) % feed->config.room_count;
        if (!room_look(feed, room)) continue;
        room->held = true;
        return room;
    }
    return NULL;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static void line_leave_room(gh_chat_feed* feed)
{
    feed->line_room = NULL;
    feed->line_seat = NULL;
    feed->line_next = NULL;
    feed->line_place = 0;
}

/* The caller has asked for the next: the one that it was given is handled. */
static void line_handled(gh_chat_feed* feed)
{
    gh_chat_seat* seat = feed->line_seat;
    if (seat != NULL && seat->member.handled < feed->line_id) seat->member.handled = feed->line_id;
    feed->line_seat = NULL;
}

static void line_fill(gh_chat_line* line, const gh_chat_seat* seat, const gh_message* message)
{
    line->player = seat->player;
    line->room = seat->room;
    line->message = message;
    line->missed = message->id == seat->member.from + 1 ? seat->member.missed : 0;
}

/* The room's next message for somebody to whom it is new: all players have heard one before the next comes. */
static bool line_find(gh_chat_feed* feed, gh_chat_line* line)
{
    const gh_chat_room* room = feed->line_room;
    while (feed->line_place < room->fetch.count)
    {
        const gh_message* message = &room->fetch.messages[feed->line_place];
        gh_chat_member* member = feed->line_next;
        if (member == NULL)
        {
            feed->line_place++;
            feed->line_next = room->fetch.members;
            continue;
        }
        feed->line_next = member->next;
        if (message->id <= member->from) continue;
        feed->line_seat = seat_of_member(member);
        feed->line_id = message->id;
        line_fill(line, feed->line_seat, message);
        return true;
    }
    return false;
}

bool gh_chat_feed_line(gh_chat_feed* feed, gh_chat_line* line)
{
    if (!feed_has_begun(feed) || line == NULL) return false;
    line_handled(feed);
    for (;;)
    {
        gh_chat_room* room = feed->line_room;
        if (room != NULL && line_find(feed, line)) return true;
        if (room != NULL) gh_chat_feed_done(feed, room, true);
        feed->line_room = gh_chat_feed_next(feed);
        if (feed->line_room == NULL) return false;
        feed->line_next = feed->line_room->fetch.members;
    }
}

/* ---- whole rooms --------------------------------------------------------------------------------------- */

gh_chat_seat* gh_chat_room_seat(const gh_chat_room* room, const gh_chat_seat* before)
{
    gh_chat_member* member = room == NULL ? NULL : before == NULL ? room->fetch.members : before->member.next;
    return member == NULL ? NULL : seat_of_member(member);
}

void gh_chat_feed_done(gh_chat_feed* feed, gh_chat_room* room, bool handled)
{
    gh_chat_member* member;
    uint64_t last;
    if (!feed_has_begun(feed) || room == NULL || !room->held) return;
    if (feed->line_room == room) line_leave_room(feed);
    last = room->fetch.messages[room->fetch.count - 1].id;
    for (member = room->fetch.members; handled && member != NULL; member = member->next)
        if (member->status == GH_OK && member->handled < last) member->handled = last;
    room->held = false;
    room->fetch.count = 0; /* they are not handed out again, also if no fetch can begin any more */
    if (room->seats == 0) room_give_back(feed, room);
    else if (gh_op_is_busy(&feed->op)) room_go_on(feed, room);
}

void gh_chat_feed_end(gh_chat_feed* feed)
{
    uint32_t i;
    if (!feed_has_begun(feed)) return;
    for (i = 0; i < feed->config.room_count; i++) feed->config.rooms[i].held = false;
    while (feed->players != NULL) gh_chat_feed_remove(feed, feed->players);
    gh_op_end(&feed->op, GH_CANCELLED);
    gh_op_clear(&feed->op, sizeof *feed);
}
