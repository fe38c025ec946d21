/* social_talk.c -- saying and hearing. What players say in a chat while a request is on its way goes out in
   the next one; one feed reads all chats of this server, each once for all its players. */

#include "server/social_talk.h"
#include "server/social_chat.h"

#define TELLS_A_FRAME 4000u /* messages to players; what is more waits for the next frame */

/* ---- Saying -------------------------------------------------------------------------------------------- */

static membership* own_chat_of(social_player* p, gh_str name)
{
    for (int i = 0; i < CHATS_EACH; i++)
    {
        if (gh_str_equal(p->chat.chats[i].talk->name, name)) return &p->chat.chats[i];
    }
    return NULL;
}

static void wait_to_speak(social* s, social_player* p, talk* t)
{
    uint32_t place = p->slot + 1;
    if (t->last_waiting == 0) t->first_waiting = place;
    else s->players[t->last_waiting - 1].chat.next_waiting = place;
    t->last_waiting = place;
    p->chat.next_waiting = 0;
}

void talk_say(social* s, social_player* p, const message* m)
{
    chat_part* c = &p->chat;
    membership* where = own_chat_of(p, m->name);
    if (where == NULL) social_sorry(s, p, m->number, SORRY_NO_SUCH, "you are not in that chat");
    else if (c->speaking) social_sorry(s, p, m->number, SORRY_BUSY, "one at a time");
    if (where == NULL || c->speaking) return;
    c->speaking = true;
    c->where = (own_chat)(where - c->chats);
    c->number = m->number;
    c->give_up_us = s->now_us + ANSWER_US;
    c->words_size = m->text.size;
    memcpy(c->words, m->text.bytes, m->text.size);
    wait_to_speak(s, p, where->talk);
    social_wake(s, p, PART_CHAT);
}

/* The first of those who wait is taken out. */
static social_player* next_speaker(social* s, talk* t)
{
    social_player* p = &s->players[t->first_waiting - 1];
    t->first_waiting = p->chat.next_waiting;
    if (t->first_waiting == 0) t->last_waiting = 0;
    return p;
}

static void spoke(social* s, social_player* p, const talk* t, gh_status status)
{
    p->chat.speaking = false;
    if (status == GH_OK)
    {
        social_tally_add(s, TALLY_SAID, 1);
        social_tell(
            s, p,
            &(message){
                .type = MESSAGE_SAID, .number = p->chat.number, .name = t->name, .values = {(int64_t)t->send.epoch}});
        return;
    }
    social_sorry_status(s, p, p->chat.number, status);
    bool outside = status == GH_GONE || status == GH_NOT_MEMBER; /* the store has lost it */
    if (outside) chat_join_again(s, p, &p->chat.chats[p->chat.where]);
}

/* Those who are not members yet wait on, for a while. */
static void gather(social* s, talk* t)
{
    size_t bytes = 0;
    uint32_t last = t->last_waiting;
    bool more = t->first_waiting != 0;
    t->count = 0;
    while (more && t->count < CHAT_POSTS && bytes < CHAT_POSTS_BYTES)
    {
        more = t->first_waiting != last;
        social_player* p = next_speaker(s, t);
        chat_part* c = &p->chat;
        bool member = c->chats[c->where].state == MEMBER_IN;
        bool late = s->now_us >= c->give_up_us || !p->here;
        if (member)
        {
            t->speakers[t->count] = p->slot;
            t->posts[t->count++] = (gh_post){.sender = p->name, .body = gh_str_make(c->words, c->words_size)};
            bytes += c->words_size;
        }
        else if (late) spoke(s, p, t, GH_TIMEOUT);
        else wait_to_speak(s, p, t);
    }
}

static void all_spoke(social* s, talk* t, gh_status status)
{
    for (uint32_t i = 0; i < t->count; i++)
    {
        gh_status own = status == GH_OK ? t->posts[i].status : status;
        spoke(s, &s->players[t->speakers[i]], t, own);
    }
    t->count = 0;
}

static void send_frame(social* s, talk* t)
{
    if (t->count > 0)
    {
        gh_status status = gh_op_poll(&t->send.op);
        if (status == GH_PENDING) return;
        all_spoke(s, t, status);
    }
    if (t->first_waiting == 0) return;
    gather(s, t);
    if (t->count == 0) return;
    gh_chat chat = chat_within(s, t, ANSWER_US);
    gh_status status = gh_chat_send_begin(&t->send, &chat, t->posts, t->count);
    if (status != GH_OK) all_spoke(s, t, status);
}

/* ---- Hearing ------------------------------------------------------------------------------------------- */

void talk_heard(social* s, social_player* p, const message* m)
{
    membership* chat = own_chat_of(p, m->name);
    (void)s;
    if (chat == NULL || (uint64_t)m->values[0] > chat->epoch || m->values[1] <= 0) return;
    uint64_t id = (uint64_t)m->values[1];
    if (id <= chat->heard || id > chat->told) return;
    chat->heard = id; /* goes out with the chat's next round */
    chat->heard_epoch = (uint64_t)m->values[0];
}

static void tell_gap(social* s, const social_player* p, const membership* m, uint64_t first, uint64_t last)
{
    social_tally_add(s, TALLY_GAPS, 1);
    social_tell(s, p,
                &(message){.type = MESSAGE_CHAT_GAP,
                           .name = m->talk->name,
                           .values = {(int64_t)m->epoch, (int64_t)first, (int64_t)last}});
}

static void tell_message(social* s, const social_player* p, const membership* m, const gh_message* said)
{
    gh_str words = said->body;
    if (words.size > MESSAGE_TEXT_MAX) words.size = MESSAGE_TEXT_MAX;
    social_tell(s, p,
                &(message){.type = MESSAGE_CHAT,
                           .name = m->talk->name,
                           .text = words,
                           .values = {(int64_t)said->epoch, (int64_t)said->id, social_player_of(said->sender)}});
}

/* The number of messages that went to the player. */
static uint32_t tell_room(social* s, const gh_chat_room* room, gh_chat_seat* seat)
{
    const gh_chat_fetch* fetch = &room->fetch;
    social_player* p = seat->player->op.user;
    membership* m = own_chat_of(p, room->name);
    if (m == NULL || seat->member.status != GH_OK) return 0;
    if (m->epoch != fetch->epoch && m->told > seat->member.from) /* the store has forgotten the newest, or all */
        m->told = m->heard = seat->member.from;
    m->epoch = fetch->epoch;
    if (m->told < seat->member.seen) m->told = seat->member.seen;

    uint32_t count = 0;
    uint64_t first = fetch->messages[0].id;
    if (seat->member.missed > 0 && first > m->told + 1) tell_gap(s, p, m, m->told + 1, first - 1);
    for (uint32_t i = 0; i < fetch->count; i++)
    {
        if (fetch->messages[i].id <= m->told || fetch->messages[i].id <= seat->member.from) continue;
        tell_message(s, p, m, &fetch->messages[i]);
        m->told = fetch->messages[i].id;
        count++;
    }
    if (seat->member.handled < m->heard)
    {
        seat->member.handled = m->heard;
        seat->member.handled_epoch = m->heard_epoch;
    }
    return count;
}

void talk_frame(social* s)
{
    for (uint32_t i = 0; i < TALKS; i++) send_frame(s, &s->talks[i]);

    gh_chat_room* room = NULL;
    uint32_t told = 0;
    while (told < TELLS_A_FRAME && (room = gh_chat_feed_next(&s->feed)) != NULL)
    {
        gh_chat_seat* seat = NULL;
        while ((seat = gh_chat_room_seat(room, seat)) != NULL) told += tell_room(s, room, seat);
        gh_chat_feed_done(&s->feed, room, false);
    }
    social_tally_add(s, TALLY_CHAT, told);
}
