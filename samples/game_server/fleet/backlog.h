/* backlog.h -- how much the workers still have to do. */

#ifndef GAME_SERVER_BACKLOG_H
#define GAME_SERVER_BACKLOG_H

#include "guildhall/tasks_admin.h"

enum
{
    BACKLOG_QUEUES = 2
};

typedef struct backlog
{
    /* read-only */
    bool known;       /* since backlog_ask: every queue has answered     */
    uint64_t waiting; /* ready, or with a worker; delayed ones are not   */
    uint64_t delayed;
    uint64_t dead; /* given up after too many attempts                */

    /* private */
    gh_queue queues[BACKLOG_QUEUES];
    gh_tasks_count counts[BACKLOG_QUEUES];
    bool answered[BACKLOG_QUEUES];
} backlog;

/* Asks anew. */
void backlog_ask(backlog* b, gh_client* client);

/* Each frame; asks again what failed. True once known. */
bool backlog_frame(backlog* b);

#endif
