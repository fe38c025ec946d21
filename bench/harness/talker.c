/* talker.c -- a program that is asked line by line: it stays, so that its start is not part of what it is
   asked to measure. */

#include "harness/bench.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_talker
{
    pid_t child;
    int input; /* of the child, our end  */
    int output;
    size_t used;
    char line[1024];
};

/* The child: its input and output are the pipes, its complaints stay on the terminal. */
static void become(char* const* arguments, const int to_child[2], const int from_child[2])
{
    dup2(to_child[0], STDIN_FILENO);
    dup2(from_child[1], STDOUT_FILENO);
    close(to_child[1]);
    close(from_child[0]);
    execvp(arguments[0], arguments);
    _exit(127);
}

struct bench_talker* bench_talker_open(char* const* arguments)
{
    int to_child[2];
    int from_child[2];
    struct bench_talker* talker = calloc(1, sizeof *talker);
    if (talker == NULL || pipe(to_child) != 0)
    {
        free(talker);
        return NULL;
    }
    if (pipe(from_child) != 0)
    {
        close(to_child[0]);
        close(to_child[1]);
        free(talker);
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN); /* a talker that is gone is noticed by its silence */
    talker->child = fork();
    if (talker->child == 0)
    {
        become(arguments, to_child, from_child);
    }
    close(to_child[0]);
    close(from_child[1]);
    talker->input = to_child[1];
    talker->output = from_child[0];
    return talker;
}

void bench_talker_close(struct bench_talker* talker)
{
    int status = 0;
    if (talker != NULL)
    {
        close(talker->input);
        close(talker->output);
        if (talker->child > 0)
        {
            kill(talker->child, SIGTERM);
            waitpid(talker->child, &status, 0);
        }
        free(talker);
    }
}

/* Moves a whole line to the answer, if there is one. */
static bool take_line(struct bench_talker* talker, char* answer, size_t capacity)
{
    char* end = memchr(talker->line, '\n', talker->used);
    if (end == NULL)
    {
        return false;
    }
    size_t size = (size_t)(end - talker->line);
    snprintf(answer, capacity, "%.*s", (int)size, talker->line);
    talker->used -= size + 1;
    memmove(talker->line, end + 1, talker->used);
    return true;
}

bool bench_talker_ask(struct bench_talker* talker, const char* question, char* answer, size_t capacity,
                      uint64_t within_us)
{
    uint64_t give_up_us = bench_now_us() + within_us;
    size_t size = strlen(question);
    if (write(talker->input, question, size) != (ssize_t)size || write(talker->input, "\n", 1) != 1)
    {
        return false;
    }
    while (!take_line(talker, answer, capacity))
    {
        struct pollfd wait = {talker->output, POLLIN, 0};
        uint64_t now_us = bench_now_us();
        if (now_us >= give_up_us || talker->used == sizeof talker->line ||
            poll(&wait, 1, (int)((give_up_us - now_us) / 1000u) + 1) <= 0)
        {
            return false;
        }
        ssize_t got = read(talker->output, talker->line + talker->used, sizeof talker->line - talker->used);
        if (got <= 0)
        {
            return false;
        }
        talker->used += (size_t)got;
    }
    return true;
}
