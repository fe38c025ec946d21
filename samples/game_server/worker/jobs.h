/* jobs.h -- what servers leave for workers to do. The texts of the tasks are written and read here alone.

       kind        queue  class  id                     payload                    what the worker does
       sold        trade  0      sold:<item>:<version>  item version price seller  the seller is paid and told
       end         trade  1      end:<item>:<version>   item version price seller  an unsold item goes back
       open        trade  2      open:<item>:<version>  item version price seller  the offer is shown
       guild mail  mail   0      made by Guildhall      guild from words           each member gets it

   version is the item's while it is for sale: LISTED tells it. So a task names one sale, and pushing it
   again while it is known changes nothing: after GH_UNKNOWN, or when another server finishes a purchase,
   just push again.

   Use
       job_push_clear(&push);
       job_push_add(&push, &(job){.kind = JOB_OPEN, .item = 7, .version = 2, .price = 50, .seller = 3,
                                  .delay_us = 1000000});
       job_push_begin(&push, client);
       ... each frame, until job_push_poll(&push) is not GH_PENDING */

#ifndef GAME_SERVER_JOBS_H
#define GAME_SERVER_JOBS_H

#include "guildhall/tasks.h"

#include "messages.h"

#define JOBS_TRADE "trade" /* the queues */
#define JOBS_MAIL  "mail"

#define JOBS_SENDER "market" /* of letters to sellers; no player has that name */

enum
{
    JOB_ID_SIZE = 40,
    JOB_PAYLOAD_SIZE = 2 * (MESSAGE_NAME_MAX + 1) + MESSAGE_TEXT_MAX + 1,
    JOB_PUSH_MAX = 8,
    JOB_PUSH_BYTES = JOB_PUSH_MAX * 128 > JOB_PAYLOAD_SIZE ? JOB_PUSH_MAX * 128 : JOB_PAYLOAD_SIZE
};

typedef enum job_kind
{
    JOB_SOLD = 0,
    JOB_END,
    JOB_OPEN,
    JOB_GUILD_MAIL,
    JOB_KINDS
} job_kind;

typedef struct job
{
    job_kind kind;
    uint64_t delay_us; /* to push: not before; 0: now */

    /* of sold, end, open */
    uint32_t item;
    uint32_t seller;
    int64_t version;
    int64_t price;

    /* of guild mail; guild and from have no spaces */
    gh_str guild;
    gh_str from;
    gh_str words;
} job;

/* The name of a kind's handler, and so of its tasks; and its queue. */
gh_str job_name(job_kind kind);
gh_str job_queue(job_kind kind);

/* A queue of jobs, with the settings that all here have for it. */
gh_status job_queue_init(gh_queue* queue, gh_client* client, gh_str name);

/* False if it is no job that job_push_add has written. The texts of guild mail point into payload. */
bool job_read(job* j, job_kind kind, gh_str payload);

/* Some jobs for one queue in one request. Yours; stays in place until the push ends. */
typedef struct job_push
{
    /* read-only */
    uint32_t count;

    /* private */
    gh_tasks_push op;
    gh_str queue;
    gh_task_spec tasks[JOB_PUSH_MAX];
    uint32_t bytes_used;
    char bytes[JOB_PUSH_BYTES];
} job_push;

/* Not while the push is under way. */
void job_push_clear(job_push* push);

/* Copies the job. False: it makes no sense, is for another queue than the first, or there is no room. */
bool job_push_add(job_push* push, const job* j);

/* GH_OK: poll. Else what gh_tasks_push_begin says; GH_INVALID_TASKS if there is nothing to push. */
gh_status job_push_begin(job_push* push, gh_client* client);

/* GH_OK: every job is in the store, or has been there. GH_UNKNOWN: some may be; begin again. */
gh_status job_push_poll(const job_push* push);

#endif
