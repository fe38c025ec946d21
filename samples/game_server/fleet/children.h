/* children.h -- the processes of the fleet: this same program in its other roles. With an embedded store they are
   threads of this one, whom a number tells to end, and who are not killed.

       start --> running --(ended by itself with 0)--> over
                   |  '---(killed, or failed)--> started again, if a supervisor would keep it alive
                   '--(told to end)--> ending --> over */

#ifndef GAME_SERVER_CHILDREN_H
#define GAME_SERVER_CHILDREN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum
{
    CHILDREN_MAX = 16,
    CHILD_ARGUMENTS_MAX = 32,
    CHILD_TEXT_SIZE = 768 /* all its arguments together */
};

typedef struct child
{
    const char* role;
    char name[24];
    uint32_t slot; /* of the board                   */
    bool kept;     /* started again when it dies     */
    int niceness;  /* who gives way to the others; for child_start */

    /* read-only */
    pid_t pid;       /* 0: it does not run; of a thread, our own            */
    bool ending;     /* it was told to                                      */
    bool over;       /* ended and will not be started again                 */
    int wait_status; /* of its last end, as waitpid tells it                */
    uint32_t starts;
    uint32_t deaths;   /* ends that nobody had asked for */
    uint64_t again_us; /* when it is started again; 0: it is not */

    /* private */
    bool is_thread;
    pthread_t thread;
    _Atomic int orders; /* to a thread, as signals are to a process: 1 to end, 2 at once */
    _Atomic bool has_ended;
    char* arguments[CHILD_ARGUMENTS_MAX + 1];
    char text[CHILD_TEXT_SIZE];
    size_t argument_count;
    size_t text_size;
} child;

typedef struct children
{
    child list[CHILDREN_MAX];
    uint32_t count;
    char program[512]; /* the path of this program                         */
    const char* log;   /* where what they print goes; NULL: where ours goes */
    bool threads;
} children;

/* False: it was said on stderr why not. */
bool children_open(children* all, const char* log, bool threads);

/* A child that is not started yet. NULL: there are too many. */
child* children_add(children* all, const char* role, const char* name, uint32_t slot, bool kept);

/* One more argument, as printf makes it. What does not fit ends the program: the arguments are ours. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void child_argument(child* c, const char* format, ...);

/* False, with errno: there is no process for it. */
bool child_start(children* all, child* c);

/* SIGTERM, once. */
void child_end(child* c);

/* child_end to all of a role. True when they are over. */
bool children_end(children* all, const char* role);

/* SIGKILL to all that still run, and waits for them. */
void children_kill(children* all);

/* Looks who has ended; died is called for each that nobody had asked to. True while any runs. */
bool children_look(children* all, uint64_t now_us, void (*died)(void* context, const child* c),
                   void* context);

bool child_succeeded(const child* c);

#endif
