/* children.c -- starts this program in its other roles, and sees them end. */

#include "children.h"

#include "aside.h"
#include "roles.h"
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGAIN_US 200000u /* before one that died is started again: it may die at once each time */

bool children_open(children* all, const char* log, bool threads)
{
    ssize_t size = readlink("/proc/self/exe", all->program, sizeof all->program - 1);
    if (size <= 0) fprintf(stderr, "game_server: where is this program? %s\n", strerror(errno));
    all->log = log;
    all->threads = threads;
    return size > 0;
}

child* children_add(children* all, const char* role, const char* name, uint32_t slot, bool kept)
{
    if (all->count == CHILDREN_MAX) return NULL;
    child* c = &all->list[all->count++];
    memset(c, 0, sizeof *c);
    c->role = role;
    c->slot = slot;
    c->kept = kept;
    snprintf(c->name, sizeof c->name, "%s", name);
    child_argument(c, "%s", all->program);
    child_argument(c, "%s", role);
    return c;
}

void child_argument(child* c, const char* format, ...)
{
    size_t room = sizeof c->text - c->text_size;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(c->text + c->text_size, room, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= room || c->argument_count == CHILD_ARGUMENTS_MAX)
    {
        fprintf(stderr, "game_server: the arguments of a %s are too long\n", c->role);
        exit(1);
    }
    c->arguments[c->argument_count++] = c->text + c->text_size;
    c->text_size += (size_t)size + 1;
}

/* In the child: what it prints goes to the log, so that it does not disturb the live view. */
static void become(const children* all, child* c)
{
    if (all->log != NULL)
    {
        int log = open(all->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(126);
    }
    setpgid(0, 0); /* Ctrl-C is the fleet's; it ends us in its own order */
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* and if the fleet itself is killed, nobody stays behind */
#endif
    if (c->niceness > 0) setpriority(PRIO_PROCESS, 0, c->niceness);
    execv(all->program, c->arguments);
    _exit(127);
}

/* ---- As a thread --------------------------------------------------------------------------------------- */

/* Behind the program and the role. The exit code is told as a process tells it. */
static void* play(void* context)
{
    child* c = context;
    stop_listen_to(&c->orders);
    if (c->niceness > 0) setpriority(PRIO_PROCESS, 0, c->niceness); /* of this thread, where threads have one */
    c->wait_status = role_main(c->role, (int)c->argument_count - 2, c->arguments + 2) << 8;
    c->has_ended = true;
    return NULL;
}

static bool start_thread(child* c)
{
    c->orders = 0;
    c->has_ended = false;
    errno = pthread_create(&c->thread, NULL, play, c);
    return errno == 0;
}

/* ---- Either --------------------------------------------------------------------------------------------- */

bool child_start(children* all, child* c)
{
    c->arguments[c->argument_count] = NULL;
    if (all->threads) aside_to(all->log);
    pid_t pid = all->threads ? start_thread(c) ? getpid() : -1 : fork();
    if (pid < 0) return false;
    if (pid == 0) become(all, c);
    c->pid = pid;
    c->is_thread = all->threads;
    c->starts++;
    return true;
}

static void order(child* c, int signal_number)
{
    if (!c->is_thread) kill(c->pid, signal_number);
    else c->orders = signal_number == SIGKILL ? 2 : 1;
}

/* True: it has ended, with that status. */
static bool has_ended(child* c, int* status)
{
    if (!c->is_thread) return waitpid(c->pid, status, WNOHANG) == c->pid;
    if (!c->has_ended) return false;
    pthread_join(c->thread, NULL);
    *status = c->wait_status;
    return true;
}

static void wait_for_end(child* c)
{
    if (c->is_thread) pthread_join(c->thread, NULL);
    else
        while (waitpid(c->pid, &c->wait_status, 0) < 0 && errno == EINTR) continue;
}

void child_end(child* c)
{
    if (c->ending || c->over) return;
    c->ending = true;
    if (c->pid > 0) order(c, SIGTERM);
    else c->over = true;
    c->again_us = 0;
}

bool children_end(children* all, const char* role)
{
    bool over = true;
    for (uint32_t i = 0; i < all->count; i++)
    {
        child* c = &all->list[i];
        if (strcmp(c->role, role) != 0) continue;
        child_end(c);
        over = over && c->over;
    }
    return over;
}

static void ended(child* c, uint64_t now_us, int status, void (*died)(void* context, const child* c), void* context)
{
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    bool again = c->kept && !c->ending && !good;
    c->pid = 0;
    c->wait_status = status;
    c->over = !again;
    if (!c->ending && !good)
    {
        c->deaths++;
        died(context, c);
    }
    if (again) c->again_us = now_us + AGAIN_US;
}

bool children_look(children* all, uint64_t now_us, void (*died)(void* context, const child* c), void* context)
{
    bool any = false;
    for (uint32_t i = 0; i < all->count; i++)
    {
        child* c = &all->list[i];
        int status = 0;
        if (c->pid > 0 && has_ended(c, &status)) ended(c, now_us, status, died, context);
        if (c->again_us > 0 && now_us >= c->again_us)
        {
            c->again_us = 0;
            c->over = !child_start(all, c);
        }
        any = any || c->pid > 0 || c->again_us > 0;
    }
    return any;
}

void children_kill(children* all)
{
    for (uint32_t i = 0; i < all->count; i++)
    {
        child* c = &all->list[i];
        if (c->pid <= 0) continue;
        order(c, SIGKILL);
        wait_for_end(c);
        c->pid = 0;
        c->over = true;
    }
}

bool child_succeeded(const child* c)
{
    return c->over && c->starts > 0 && WIFEXITED(c->wait_status) && WEXITSTATUS(c->wait_status) == 0;
}
