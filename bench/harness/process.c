/* process.c -- runs a program to its end and gives what it printed. */

#include "harness/bench.h"

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts the program with its standard output at the other end of a pipe; -1 if that cannot be done. */
static int start(char* const* arguments, pid_t* child)
{
    int ends[2];
    if (pipe(ends) != 0)
    {
        return -1;
    }
    *child = fork();
    if (*child == 0)
    {
        int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        close(ends[0]);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(ends[1]);
    if (*child < 0)
    {
        close(ends[0]);
        return -1;
    }
    return ends[0];
}

bool bench_program(char* const* arguments, char* output, size_t capacity)
{
    pid_t child = -1;
    int descriptor = start(arguments, &child);
    if (descriptor < 0)
    {
        return false;
    }
    size_t used = 0;
    char rest[256];
    ssize_t got = 1;
    while (got > 0) /* to the end, even if there is no room: the program must not stand still */
    {
        bool room = used + 1 < capacity;
        got = room ? read(descriptor, output + used, capacity - used - 1) : read(descriptor, rest, sizeof rest);
        used += got > 0 && room ? (size_t)got : 0u;
    }
    output[used] = 0;
    close(descriptor);
    int status = 1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
