#include "sweep.h"

#define SWEEP_NONE UINT32_MAX

void sweep_begin(sweep* s, world* w)
{
    s->next = 0;
    s->ended = 0;
    for (uint32_t i = 0; i < w->player_count; i++)
    {
        w->players[i].act_us = 0;
        w->players[i].object = SWEEP_NONE;
    }
}

static void poll_call(sweep* s, player* p, uint64_t now_us)
{
    gh_status status = gh_command_poll(&p->call.op);
    if (status == GH_PENDING) return;
    p->asking = false;
    if (status != GH_OK)
    {
        p->act_us = now_us + WORLD_AGAIN_US;
        return;
    }
    if (s->take != NULL && p->object != SWEEP_NONE) s->take(s->context, &p->call, p->object);
    s->ended += p->object != SWEEP_NONE;
    p->object = SWEEP_NONE;
}

bool sweep_frame(sweep* s, world* w, uint64_t now_us)
{
    for (uint32_t i = 0; i < w->player_count; i++)
    {
        player* p = &w->players[i];
        if (p->asking) poll_call(s, p, now_us);
        if (p->asking || now_us < p->act_us) continue;
        if (p->object == SWEEP_NONE && s->next < s->count) p->object = s->next++;
        if (p->object == SWEEP_NONE) continue;
        p->asking = s->begin(s->context, &p->call, p->object) == GH_OK;
        if (!p->asking) p->act_us = now_us + WORLD_AGAIN_US;
    }
    return s->ended == s->count;
}
