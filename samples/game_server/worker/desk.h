/* desk.h -- where a worker does a job, with all that a job borrows: one desk for each task that it has at
   once.

       sold         PAYING --> TELLING --> HIDING --> done
       end          TAKING_BACK --> TELLING --> HIDING --> done
                         '-- sold meanwhile --> HIDING
       open         SHOWING --> LOOKING --> done
                                   '-- over already --> HIDING --> done
       guild mail   FINDING a page of members --> SENDING to each of them --> FINDING ... --> done

   Each step is one request and may be done again: when the worker dies, the next one begins with the first.
   The market's steps change nothing then; a letter may come twice. */

#ifndef GAME_SERVER_DESK_H
#define GAME_SERVER_DESK_H

#include "market/market.h"
#include "worker/jobs.h"

enum
{
    DESKS = GH_TASKS_BATCH_MAX,
    DESK_LETTERS = 16,                          /* of a guild, at once                                   */
    DESK_OPS = DESKS * (2 + DESK_LETTERS) + 16, /* places of ops_capacity, for the worker of tasks.h too */
    DESK_TASK_SIZE = JOB_PAYLOAD_SIZE + 512     /* memory that a task needs                              */
};

typedef enum desk_step
{
    DESK_BEGIN = 0, /* as task->step is when a task is handed out */
    DESK_PAYING,
    DESK_TAKING_BACK,
    DESK_SHOWING,
    DESK_LOOKING,
    DESK_TELLING,
    DESK_HIDING,
    DESK_FINDING,
    DESK_SENDING,
    DESK_DONE
} desk_step;

typedef struct desk
{
    job job;
    market_trade trade;
    market_call call;

    gh_mailbox_push letters[DESK_LETTERS]; /* the first one tells the seller */
    gh_post posts[DESK_LETTERS];
    char names[DESK_LETTERS][MESSAGE_NAME_MAX];
    gh_str to[DESK_LETTERS];
    bool sent[DESK_LETTERS];
    uint32_t letter_count;

    gh_guild guild;
    gh_guild_search search;
    char texts[JOB_PAYLOAD_SIZE]; /* of the job; the task's own memory may go to the next task earlier */
    _Alignas(8) char found[GH_GUILD_BUFFER_SIZE(DESK_LETTERS)];
} desk;

typedef struct desks
{
    /* read-only */
    uint64_t done[JOB_KINDS];
    uint64_t letters;
    uint64_t letters_refused; /* a full mailbox: its owner has not been here for long */

    /* private */
    gh_client* client;
    market market;
    gh_task slots[DESKS]; /* of the worker of tasks.h */
    desk list[DESKS];
} desks;

void desks_init(desks* all, gh_client* client, const char* world);

/* The handlers of the four kinds; context is the desks. */
gh_task_action desk_sold(void* context, gh_task* task);
gh_task_action desk_end(void* context, gh_task* task);
gh_task_action desk_open(void* context, gh_task* task);
gh_task_action desk_guild_mail(void* context, gh_task* task);

#endif
