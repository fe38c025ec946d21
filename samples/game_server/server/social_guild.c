/* social_guild.c -- the player's guild: being in it, completing the names of its members, and mail to all of
   them, which a worker carries out. */

#include "server/social_guild.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Being in it --------------------------------------------------------------------------------------- */

static void join(social* s, social_player* p)
{
    guild_part* g = &p->guild;
    gh_guild_config config = gh_guild_config_default();
    gh_guild guild; /* a value, which may go when the op has begun */
    config.timeout_us = PATIENT_US;
    gh_guild_init(&guild, s->client, g->talk->name, &config);
    g->again_us = s->now_us + RETRY_US; /* not before, if it fails */
    gh_guild_join_begin(&g->change, &guild, &g->member, 1);
}

void guild_enter(social* s, social_player* p)
{
    guild_part* g = &p->guild;
    g->talk = p->chat.chats[CHAT_GUILD].talk;
    gh_guild_init(&g->guild, s->client, g->talk->name, NULL);
    snprintf(g->id, sizeof g->id, "%" PRIu32, p->player);
    g->member = (gh_guild_member){.name = p->name, .id = gh_str_of(g->id)};
    join(s, p);
    social_wake(s, p, PART_GUILD);
}

/* True: look again in the next frame. */
static bool join_frame(social* s, social_player* p)
{
    guild_part* g = &p->guild;
    gh_status status = gh_op_poll(&g->change.op);
    if (status == GH_PENDING) return true;
    g->joined = status == GH_OK;
    if (g->joined || !p->here) return false;
    if (s->now_us >= g->again_us) join(s, p);
    return true;
}

/* ---- Completing names ---------------------------------------------------------------------------------- */

/* Of key-strokes only the newest matters. */
void guild_find(social* s, social_player* p, const message* m)
{
    guild_part* g = &p->guild;
    gh_guild_search_config config = gh_guild_search_config_default();
    config.limit = NAMES_MAX;
    config.buffer = g->found;
    config.buffer_size = sizeof g->found;
    if (g->finding) social_sorry(s, p, g->number, SORRY_BUSY, "there was a newer key-stroke");
    gh_op_cancel(&g->search.op);
    gh_status status = gh_guild_complete_begin(&g->search, &g->guild, m->text, &config);
    g->finding = status == GH_OK;
    g->number = m->number;
    if (status != GH_OK) social_sorry_status(s, p, m->number, status);
    social_wake(s, p, PART_GUILD);
}

static void find_frame(social* s, social_player* p)
{
    guild_part* g = &p->guild;
    gh_str names[NAMES_MAX];
    gh_status status = gh_op_poll(&g->search.op);
    if (status == GH_PENDING) return;
    g->finding = false;
    if (status != GH_OK && status != GH_EMPTY)
    {
        social_sorry_status(s, p, g->number, status);
        return;
    }
    for (uint32_t i = 0; i < g->search.count; i++) names[i] = g->search.hits[i].name;
    social_tell_names(s, p, g->number, names, g->search.count);
}

/* ---- Mail to all of it --------------------------------------------------------------------------------- */

void guild_mail(social* s, social_player* p, const message* m)
{
    guild_part* g = &p->guild;
    const job letter = {.kind = JOB_GUILD_MAIL, .guild = g->talk->name, .from = p->name, .words = m->text};
    if (g->mailing)
    {
        social_sorry(s, p, m->number, SORRY_BUSY, "one at a time");
        return;
    }
    job_push_clear(&g->mail);
    gh_status status = job_push_add(&g->mail, &letter) ? job_push_begin(&g->mail, s->client) : GH_INVALID_TASKS;
    g->mailing = status == GH_OK;
    g->mail_number = m->number;
    if (status != GH_OK) social_sorry_status(s, p, m->number, status);
    social_wake(s, p, PART_GUILD);
}

static void mail_frame_of(social* s, social_player* p)
{
    guild_part* g = &p->guild;
    gh_status status = job_push_poll(&g->mail);
    if (status == GH_PENDING) return;
    g->mailing = false;
    if (status == GH_OK) social_tell(s, p, &(message){.type = MESSAGE_SENT, .number = g->mail_number});
    else social_sorry_status(s, p, g->mail_number, status);
}

/* ---- Frames -------------------------------------------------------------------------------------------- */

bool guild_frame(social* s, social_player* p)
{
    guild_part* g = &p->guild;
    bool joining = !g->joined && join_frame(s, p);
    if (g->finding) find_frame(s, p);
    if (g->mailing) mail_frame_of(s, p);
    return joining || g->finding || g->mailing;
}

void guild_leave(social* s, social_player* p)
{
    gh_op_cancel(&p->guild.change.op);
    gh_op_cancel(&p->guild.search.op);
    social_wake(s, p, PART_GUILD);
}
