/* lend.c -- buffers that many links share. A link holds one to send from while not all in it has left, and one to
   receive into while it has the beginning of a reply; in between it holds none. Links that are idle cost no buffers,
   and one that nobody reads from, or that is slow, holds no more than its own. Who stops in the middle of a reply is
   given up where others want its buffer, whatever it is a link for (pipeline.c, cluster_hints.c).

       free --gh_lend_out, gh_lend_in--> held --gh_lend_settle, when nothing is left in it--> free

   One link alone has its own, always. */

#include "client/lend.h"

#define STALL_SHARE 4u /* of request_timeout_us: so long a reply may stand still that others wait for */

typedef struct lend_block
{
    struct lend_block* next;
} lend_block;

/* One that comes back, or else one that was never lent, of which nobody has touched a byte. */
static char* block_take(void** chain, char* const* all, uint32_t* used, uint32_t count)
{
    lend_block* block = (lend_block*)*chain;
    if (block == NULL) return *used < count ? all[(*used)++] : NULL;
    *chain = block->next;
    return (char*)block;
}

static void block_give(void** chain, void* bytes)
{
    lend_block* block = (lend_block*)bytes;
    block->next = (lend_block*)*chain;
    *chain = block;
}

bool gh_lend_carve(gh_arena* arena, gh_client* client)
{
    const gh_client_config* config = &client->config;
    uint32_t i;
    bool fits = false;
    memset(&client->lent_inbox, 0, sizeof client->lent_inbox);
    for (i = 0; i < GH_LENT_OUTS; i++) client->lent_outs[i] = (char*)gh_arena_take_as_is(arena, config->out_bytes);
    for (i = 0; i < GH_LENT_INBOXES; i++)
    {
        fits = gh_inbox_take(&client->lent_inbox, arena, config->reply_bytes, config->reply_nodes);
        client->lent_ins[i] = fits ? client->lent_inbox.bytes - 1 : NULL; /* a whole block begins a byte before */
    }
    return fits;
}

bool gh_lend_out(gh_client* client, gh_link* link)
{
    if (link->out == NULL)
        link->out = block_take(&client->outs_free, client->lent_outs, &client->outs_used, GH_LENT_OUTS);
    return link->out != NULL;
}

bool gh_lend_in(gh_client* client, gh_link* link)
{
    char* block;
    if (link->inbox.bytes != NULL) return true;
    block = block_take(&client->ins_free, client->lent_ins, &client->ins_used, GH_LENT_INBOXES);
    client->ins_wanted = block == NULL;
    if (block == NULL) return false;
    link->inbox.bytes = block + 1;
    return true;
}

bool gh_lend_has_out(const gh_client* client, const gh_link* link)
{
    return link->out != NULL || client->outs_free != NULL || client->outs_used < GH_LENT_OUTS;
}

bool gh_lend_has_in(const gh_client* client, const gh_link* link)
{
    return link->inbox.bytes != NULL || client->ins_free != NULL || client->ins_used < GH_LENT_INBOXES;
}

uint64_t gh_lend_due(const gh_client* client, const gh_link* link)
{
    if (!client->ins_wanted || gh_inbox_is_empty(&link->inbox)) return GH_FOREVER; /* as it is when a link is lost */
    return link->heard_us + client->config.request_timeout_us / STALL_SHARE;
}

bool gh_lend_is_held_up(const gh_client* client, const gh_link* link)
{
    return client->now_us >= gh_lend_due(client, link);
}

void gh_lend_settle(gh_client* client, gh_link* link)
{
    if (link->out != NULL && gh_link_unsent(link) == 0 && link->secret_bytes == 0)
    {
        block_give(&client->outs_free, link->out);
        link->out = NULL;
    }
    if (link->inbox.bytes != NULL && gh_inbox_is_empty(&link->inbox))
    {
        block_give(&client->ins_free, link->inbox.bytes - 1);
        link->inbox.bytes = NULL;
    }
}

void gh_lend_wipe(gh_client* client)
{
    uint32_t i;
    for (i = 0; i < client->outs_used; i++) gh_wipe(client->lent_outs[i], client->config.out_bytes);
    for (i = 0; i < client->ins_used; i++) gh_wipe(client->lent_ins[i], client->lent_inbox.capacity + 1u);
}
