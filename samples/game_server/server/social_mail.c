/* social_mail.c -- each player's mailbox: one fetch waits for what comes, READ is what may go from the store. */

#include "server/social_mail.h"
#include "server/social_contacts.h"

#define WAIT_US 600000000u /* for a message; a hint ends it at once */

/* ---- What comes ---------------------------------------------------------------------------------------- */

static void fetch(social* s, social_player* p)
{
    mail_part* mail = &p->mail;
    gh_mailbox mailbox = mailbox_of(s, p->name);
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.wait_us = WAIT_US;
    config.messages_max = MAIL_MESSAGES;
    config.after = mail->after;
    config.epoch = mail->epoch;
    config.buffer = mail->bytes;
    config.buffer_size = sizeof mail->bytes;
    gh_status status = gh_mailbox_fetch_begin(&mail->fetch, &mailbox, &config);
    mail->fetching = status == GH_OK;
    if (status != GH_OK) mail->again_us = s->now_us + RETRY_US;
}

/* Who whispered is a contact from now on; the market is none. */
static void tell_mail(social* s, social_player* p, const gh_message* letter)
{
    gh_str words = letter->body;
    if (words.size > MESSAGE_TEXT_MAX) words.size = MESSAGE_TEXT_MAX;
    if (social_player_of(letter->sender) >= 0) contacts_touch(s, p, letter->sender);
    social_tell(s, p,
                &(message){.type = MESSAGE_MAIL,
                           .name = letter->sender,
                           .text = words,
                           .values = {(int64_t)letter->epoch, (int64_t)letter->id}});
    social_tally_add(s, TALLY_MAIL, 1);
    bool from_market = gh_str_equal(letter->sender, gh_str_literal(JOBS_SENDER));
    if (from_market && p->here) s->on_market_letter(s->context, p->slot, words);
}

static void fetched(social* s, social_player* p, gh_status status)
{
    mail_part* mail = &p->mail;
    mail->fetching = false;
    if (status != GH_OK && status != GH_EMPTY) mail->again_us = s->now_us + RETRY_US;
    if (status != GH_OK) return;
    if (mail->fetch.messages[0].id <= mail->after) mail->committed = mail->read = 0; /* the store has forgotten some */
    mail->epoch = mail->fetch.epoch;
    for (uint32_t i = 0; i < mail->fetch.count; i++)
    {
        tell_mail(s, p, &mail->fetch.messages[i]);
        mail->after = mail->fetch.messages[i].id;
    }
}

void mail_enter(social* s, social_player* p)
{
    social_wake(s, p, PART_MAIL); /* the first frame begins to fetch */
}

/* ---- What was read ------------------------------------------------------------------------------------- */

void mail_read(social* s, social_player* p, const message* m)
{
    mail_part* mail = &p->mail;
    (void)s;
    if ((uint64_t)m->values[0] > mail->epoch || m->values[1] <= 0) return;
    uint64_t id = (uint64_t)m->values[1];
    if (id <= mail->after && id > mail->read) mail->read = id;
}

/* True: look again in the next frame. */
static bool commit_frame(social* s, social_player* p)
{
    mail_part* mail = &p->mail;
    if (mail->committing)
    {
        gh_status status = gh_op_poll(&mail->commit.op);
        if (status == GH_PENDING) return true;
        mail->committing = false;
        if (status == GH_OK) mail->committed = mail->commit_id;
        else if (!p->here) return false; /* it will come once more */
    }
    if (mail->read <= mail->committed) return false;
    mail->commit_id = mail->read;
    gh_mailbox mailbox = mailbox_of(s, p->name);
    mail->committing = gh_mailbox_commit_begin(&mail->commit, &mailbox, mail->epoch, mail->read) == GH_OK;
    return mail->committing;
}

/* Everybody waits for mail all the time: a quarter of them is looked at in each frame. */
bool mail_frame(social* s, social_player* p)
{
    mail_part* mail = &p->mail;
    if (p->here && (s->frames + p->slot) % 4 != 0) return true;
    if (mail->fetching)
    {
        gh_status status = gh_op_poll(&mail->fetch.op);
        if (status != GH_PENDING) fetched(s, p, status);
    }
    bool committing = commit_frame(s, p);
    bool room = contacts_room(p) >= MAIL_MESSAGES; /* each letter may be from somebody new */
    if (social_is_told(s, p) && !mail->fetching && room && s->now_us >= mail->again_us) fetch(s, p);
    return p->here || committing || mail->fetching;
}

void mail_leave(social* s, social_player* p)
{
    gh_op_cancel(&p->mail.fetch.op);
    social_wake(s, p, PART_MAIL);
}
