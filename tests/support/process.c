/* process.c -- children that run a function of the test until they are killed. */

#include "support/process.h"

#include "support/cleanup.h"
#include "support/suite.h"
#include "support/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct child_process
{
    pid_t pid;
    int results;
    bool ended;
    int status; /* once ended: exit status, or 128 + signal */
};

static void run_child(child_body body, void* context, int results, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* the parent ended before prctl took hold */
    int status = body(context, results);
    fflush(NULL);
    _exit(status);
}

static void note_end(child_process* child, int status)
{
    child->ended = true;
    child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void end_thing(void* thing)
{
    child_process* child = thing;
    child_kill9(child);
    close(child->results);
    free(child);
}

child_process* child_start(child_body body, void* context)
{
    int ends[2];
    child_process* child = calloc(1, sizeof(*child));
    if (child == NULL || pipe(ends) != 0) abort();
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL); /* or the child writes what is still in the buffers a second time */
    pid_t parent = getpid();
    child->pid = fork();
    if (child->pid < 0) abort();
    if (child->pid == 0)
    {
        close(ends[0]);
        run_child(body, context, ends[1], parent);
    }
    close(ends[1]); /* at once: a later child must not keep this pipe open */
    child->results = ends[0];
    cleanup_add(end_thing, child);
    return child;
}

pid_t child_pid(const child_process* child)
{
    return child->pid;
}

size_t child_read(child_process* child, void* bytes, size_t size)
{
    size_t got = 0;
    uint64_t end_us = wait_cap_us();
    while (got < size)
    {
        struct pollfd readable = {child->results, POLLIN, 0};
        if (poll(&readable, 1, 100) > 0)
        {
            ssize_t step = read(child->results, (char*)bytes + got, size - got);
            if (step == 0) break;
            if (step > 0) got += (size_t)step;
        }
        if (wait_now_us() >= end_us)
        {
            fail_msg("a child sent %zu of %zu bytes, then nothing", got, size);
            break;
        }
    }
    return got;
}

bool child_has_ended(child_process* child)
{
    int status = 0;
    if (!child->ended && waitpid(child->pid, &status, WNOHANG) == child->pid) note_end(child, status);
    return child->ended;
}

int child_wait(child_process* child)
{
    WAIT_FOR(child_has_ended(child));
    return child->status;
}

void child_kill9(child_process* child)
{
    int status = 0;
    if (child->ended) return;
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
    {
    }
    note_end(child, status);
}

void child_freeze(child_process* child)
{
    int status = 0;
    if (child->ended) return;
    kill(child->pid, SIGSTOP);
    if (waitpid(child->pid, &status, WUNTRACED) == child->pid && !WIFSTOPPED(status)) note_end(child, status);
}

void child_thaw(child_process* child)
{
    if (!child->ended) kill(child->pid, SIGCONT);
}

void child_end(child_process* child)
{
    cleanup_forget(child);
    end_thing(child);
}
