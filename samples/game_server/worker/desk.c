/* desk.c -- one step of a job after the other. */

#include "worker/desk.h"
#include "market/market_replies.h"
#include "market/market_steps.h"

#include <inttypes.h>
#include <stdio.h>

void desks_init(desks* all, gh_client* client, const char* world)
{
    all->client = client;
    market_init(&all->market, client, world, MARKET_FINE);
}

/* ---- Beginning a step ---------------------------------------------------------------------------------- */

static gh_status push_letter(desks* all, desk* d, uint32_t i)
{
    gh_mailbox mailbox;
    gh_mailbox_init(&mailbox, all->client, d->to[i], NULL);
    return gh_mailbox_push_begin(&d->letters[i], &mailbox, &d->posts[i], 1);
}

/* To the seller: what became of the offer. */
static gh_status tell(desks* all, desk* d)
{
    const job* j = &d->job;
    char name[PLAYER_NAME_SIZE];
    gh_str seller = player_name(j->seller, name);
    memcpy(d->names[0], seller.bytes, seller.size);
    d->to[0] = gh_str_make(d->names[0], seller.size);
    if (j->kind == JOB_SOLD)
        snprintf(d->texts, sizeof d->texts, "sold %" PRIu32 " %" PRId64 " %" PRId64, j->item, j->version, j->price);
    else snprintf(d->texts, sizeof d->texts, "back %" PRIu32 " %" PRId64, j->item, j->version + 1);
    d->posts[0] = (gh_post){.sender = gh_str_literal(JOBS_SENDER), .body = gh_str_of(d->texts)};
    return push_letter(all, d, 0);
}

static gh_status find(desks* all, desk* d)
{
    if (gh_op_poll(&d->search.op) == GH_OK) return gh_guild_next_begin(&d->search, &d->guild);
    gh_guild_search_config config = gh_guild_search_config_default();
    config.limit = DESK_LETTERS;
    config.buffer = d->found;
    config.buffer_size = sizeof d->found;
    gh_guild_init(&d->guild, all->client, d->job.guild, NULL);
    return gh_guild_complete_begin(&d->search, &d->guild, gh_str_literal(""), &config);
}

/* Those letters that are not in their mailboxes yet. */
static gh_status send(desks* all, desk* d)
{
    gh_status status = GH_OK;
    for (uint32_t i = 0; i < d->letter_count && status == GH_OK; i++)
    {
        if (!d->sent[i]) status = push_letter(all, d, i);
    }
    return status;
}

static gh_status begin(desks* all, desk* d, desk_step step)
{
    switch (step)
    {
    case DESK_PAYING: return market_pay(&all->market, &d->call, &d->trade);
    case DESK_TAKING_BACK: return market_take_back(&all->market, &d->call, &d->trade);
    case DESK_SHOWING: return market_show(&all->market, &d->call, &d->trade);
    case DESK_LOOKING: return market_read_item(&all->market, &d->call, d->trade.item);
    case DESK_HIDING: return market_hide(&all->market, &d->call, &d->trade);
    case DESK_TELLING: return tell(all, d);
    case DESK_FINDING: return find(all, d);
    case DESK_SENDING: return send(all, d);
    case DESK_BEGIN:
    case DESK_DONE: break;
    }
    return GH_OK;
}

/* ---- Ending a step ------------------------------------------------------------------------------------- */

static bool is_busy(const desk* d)
{
    bool busy = gh_op_poll(&d->call.op.op) == GH_PENDING || gh_op_poll(&d->search.op) == GH_PENDING;
    for (uint32_t i = 0; i < DESK_LETTERS; i++) busy |= gh_op_poll(&d->letters[i].op) == GH_PENDING;
    return busy;
}

/* GH_OK: the store has done it. */
static gh_status outcome(const desk* d, desk_step step)
{
    gh_status status = GH_OK; /* SENDING looks at each letter itself */
    if (step == DESK_TELLING) return gh_op_poll(&d->letters[0].op);
    if (step == DESK_FINDING) status = gh_op_poll(&d->search.op);
    else if (step != DESK_SENDING) status = gh_op_poll(&d->call.op.op);
    return status == GH_EMPTY ? GH_OK : status;
}

/* The members of the page that was found, but not the one who writes. */
static void address_letters(desk* d)
{
    d->letter_count = 0;
    for (uint32_t i = 0; i < d->search.count; i++)
    {
        gh_str name = d->search.hits[i].name;
        uint32_t place = d->letter_count;
        if (gh_str_equal(name, d->job.from)) continue;
        memcpy(d->names[place], name.bytes, name.size);
        d->to[place] = gh_str_make(d->names[place], name.size);
        d->posts[place] = (gh_post){.sender = d->job.from, .body = d->job.words};
        d->sent[place] = false;
        d->letter_count++;
    }
}

/* True: every letter is where it belongs. One mailbox that is full holds nobody else up. */
static bool all_sent(desks* all, desk* d)
{
    bool every = true;
    for (uint32_t i = 0; i < d->letter_count; i++)
    {
        if (d->sent[i]) continue;
        gh_status status = gh_op_poll(&d->letters[i].op);
        d->sent[i] = status == GH_OK || status == GH_FULL;
        all->letters += status == GH_OK;
        all->letters_refused += status == GH_FULL;
        every = every && d->sent[i];
    }
    return every;
}

static bool is_for_sale(const desk* d)
{
    market_item item;
    return market_item_of(&d->call, &item) && item.version == d->trade.version && item.price > 0;
}

/* What comes after a step that is done. */
static desk_step next(desks* all, desk* d, desk_step step)
{
    switch (step)
    {
    case DESK_PAYING: return DESK_TELLING;
    case DESK_TAKING_BACK: return market_number(&d->call) == MARKET_DONE ? DESK_TELLING : DESK_HIDING;
    case DESK_TELLING: all->letters++; return DESK_HIDING;
    case DESK_SHOWING: return DESK_LOOKING;
    case DESK_LOOKING: return is_for_sale(d) ? DESK_DONE : DESK_HIDING;
    case DESK_FINDING: address_letters(d); return d->letter_count > 0 ? DESK_SENDING : DESK_DONE;
    case DESK_SENDING:
        if (!all_sent(all, d)) return DESK_SENDING;
        return d->search.more ? DESK_FINDING : DESK_DONE;
    case DESK_HIDING:
    case DESK_BEGIN:
    case DESK_DONE: break;
    }
    return DESK_DONE;
}

/* ---- Handlers ------------------------------------------------------------------------------------------ */

static bool read_job(desk* d, job_kind kind, gh_str payload)
{
    if (payload.size > sizeof d->texts) return false;
    memcpy(d->texts, payload.bytes, payload.size);
    if (!job_read(&d->job, kind, gh_str_make(d->texts, payload.size))) return false;
    const job* j = &d->job;
    d->trade = (market_trade){.item = j->item, .seller = j->seller, .version = j->version, .price = j->price};
    d->search = (gh_guild_search){0};
    return kind == JOB_GUILD_MAIL || j->item < MARKET_ITEMS_MAX;
}

/* A step that failed ends the attempt; tasks.h calls again, after a pause, and the job begins anew. */
static gh_task_action again(gh_task* task, gh_status why)
{
    (void)gh_task_set_result(task, gh_str_of(gh_status_text(why))); /* without room for it, no reason */
    return GH_TASK_ACTION_RETRY;
}

/* Called in each tick: as long as the request of the step is under way there is nothing to do. */
static gh_task_action work(desks* all, gh_task* task, job_kind kind, desk_step first)
{
    desk* d = &all->list[task - all->slots];
    desk_step step = (desk_step)task->step;
    if (task->status == GH_LOST) return GH_TASK_ACTION_CONTINUE; /* another worker has it now */
    if (is_busy(d)) return GH_TASK_ACTION_CONTINUE;              /* perhaps with a task that was lost here */
    if (step == DESK_BEGIN)
    {
        if (!read_job(d, kind, task->payload)) return GH_TASK_ACTION_FAIL;
        step = first;
    }
    else
    {
        gh_status status = outcome(d, step);
        if (status != GH_OK) return again(task, status);
        step = next(all, d, step);
    }
    task->step = step;
    all->done[kind] += step == DESK_DONE;
    if (step == DESK_DONE) return GH_TASK_ACTION_DONE;
    gh_status status = begin(all, d, step);
    return status == GH_OK ? GH_TASK_ACTION_CONTINUE : again(task, status);
}

gh_task_action desk_sold(void* context, gh_task* task)
{
    return work(context, task, JOB_SOLD, DESK_PAYING);
}

gh_task_action desk_end(void* context, gh_task* task)
{
    return work(context, task, JOB_END, DESK_TAKING_BACK);
}

gh_task_action desk_open(void* context, gh_task* task)
{
    return work(context, task, JOB_OPEN, DESK_SHOWING);
}

gh_task_action desk_guild_mail(void* context, gh_task* task)
{
    return work(context, task, JOB_GUILD_MAIL, DESK_FINDING);
}
