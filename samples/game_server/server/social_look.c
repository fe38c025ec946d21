/* social_look.c -- players look at promotions: rows of a database that one server of the fleet at a time
   refreshes, and all servers read from the store. */

#include "server/social_look.h"

void look_at(social* s, social_player* p, const message* m)
{
    look_part* l = &p->look;
    bool known = m->values[0] >= 0 && m->values[0] < PROMOTIONS;
    if (!known) social_sorry(s, p, m->number, SORRY_NO_SUCH, "no such promotion");
    else if (l->looking) social_sorry(s, p, m->number, SORRY_BUSY, "one at a time");
    if (!known || l->looking) return;
    gh_row_get_config config = gh_row_get_config_default();
    config.buffer = l->row;
    config.buffer_size = sizeof l->row;
    l->number = m->number;
    l->promotion = (uint32_t)m->values[0];
    gh_status status = gh_row_get_begin(&l->get, s->client, promotion_name(l->promotion, l->name), &config);
    l->looking = status == GH_OK;
    if (status != GH_OK) social_sorry_status(s, p, m->number, status);
    social_wake(s, p, PART_LOOK);
}

static void looked(social* s, social_player* p, gh_status status)
{
    look_part* l = &p->look;
    l->looking = false;
    if (status == GH_EMPTY || status == GH_GONE) social_sorry(s, p, l->number, SORRY_NO_SUCH, gh_status_text(status));
    else if (status != GH_OK && status != GH_OLD) social_sorry_status(s, p, l->number, status);
    if (status != GH_OK && status != GH_OLD) return;
    social_tally_add(s, TALLY_PROMOTIONS, 1);
    social_tell(s, p,
                &(message){.type = MESSAGE_PROMOTION,
                           .number = l->number,
                           .text = l->get.value,
                           .values = {l->promotion, (int64_t)(l->get.age_us / 1000), status}});
}

bool look_frame(social* s, social_player* p)
{
    if (!p->look.looking) return false;
    gh_status status = gh_op_poll(&p->look.get.op);
    if (status != GH_PENDING) looked(s, p, status);
    return p->look.looking;
}

void look_leave(social* s, social_player* p)
{
    gh_op_cancel(&p->look.get.op);
    social_wake(s, p, PART_LOOK);
}
