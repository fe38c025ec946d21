/* social_whisper.c -- a whisper goes into the mailbox of somebody else; it goes on when the player leaves. */

#include "server/social_whisper.h"
#include "server/social_contacts.h"

void whisper_to(social* s, social_player* p, const message* m)
{
    whisper_part* w = &p->whisper;
    bool busy = w->number != 0 || contacts_room(p) == 0;
    if (social_player_of(m->name) < 0) social_sorry(s, p, m->number, SORRY_NO_SUCH, "no player has that name");
    else if (m->number == 0) social_sorry(s, p, m->number, SORRY_NONSENSE, "a request has a number");
    else if (busy) social_sorry(s, p, m->number, SORRY_BUSY, "one at a time");
    if (social_player_of(m->name) < 0 || m->number == 0 || busy) return;

    memcpy(w->to_bytes, m->name.bytes, m->name.size);
    memcpy(w->words, m->text.bytes, m->text.size);
    w->to = gh_str_make(w->to_bytes, m->name.size);
    w->post = (gh_post){.sender = p->name, .body = gh_str_make(w->words, m->text.size)};
    gh_mailbox mailbox = mailbox_of(s, w->to);
    gh_status status = gh_mailbox_push_begin(&w->push, &mailbox, &w->post, 1);
    if (status != GH_OK)
    {
        social_sorry_status(s, p, m->number, status);
        return;
    }
    w->number = m->number;
    contacts_touch(s, p, w->to);
    w->touch = p->contacts.queued;
    social_wake(s, p, PART_WHISPER);
}

/* Told as sent when it is, and the contact can be found. */
bool whisper_frame(social* s, social_player* p)
{
    whisper_part* w = &p->whisper;
    gh_status status = gh_op_poll(&w->push.op);
    if (status == GH_PENDING) return true;
    bool touched = p->contacts.touched >= w->touch;
    if (status == GH_OK && !touched && p->here) return true;
    uint32_t number = w->number;
    w->number = 0;
    if (status == GH_OK)
    {
        social_tally_add(s, TALLY_WHISPERS, 1);
        social_tell(s, p, &(message){.type = MESSAGE_SENT, .number = number});
    }
    else social_sorry_status(s, p, number, status);
    return false;
}
