/* program.c -- runs a program that stands beside the test binary. */

#include "support/scene/program.h"

#include "support/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_program(void* context, int results)
{
    program* p = context;
    int out = p->terminal[0] == '\0' ? results : open(p->terminal, O_RDWR | O_NOCTTY);
    CHILD_CHECK(dup2(out, STDOUT_FILENO) >= 0 && dup2(results, STDERR_FILENO) >= 0);
    execv(p->path, (char* const*)(uintptr_t)p->arguments);
    fprintf(stderr, "%s does not start\n", p->path);
    return 99;
}

void program_find(program* p, const char* name)
{
    memset(p, 0, sizeof *p);
    ssize_t size = readlink("/proc/self/exe", p->path, sizeof p->path - 1);
    assert_true(size > 0);
    p->path[size] = '\0';
    char* end = strrchr(p->path, '/') + 1;
    snprintf(end, sizeof p->path - (size_t)(end - p->path), "%s", name);
    if (access(p->path, X_OK) != 0) fail_msg("no program %s: build all targets", p->path);
    p->arguments[0] = p->path;
}

void program_argument(program* p, const char* argument)
{
    size_t count = 0;
    while (p->arguments[count] != NULL) count++;
    assert_true(count + 1 < PROGRAM_ARGUMENTS_MAX);
    p->arguments[count] = argument;
}

void program_start(program* p)
{
    p->child = child_start(run_program, p);
}

void program_interrupt(program* p)
{
    kill(child_pid(p->child), SIGINT);
}

int program_end(program* p)
{
    p->status = child_wait(p->child);
    size_t size = child_read(p->child, p->output, sizeof p->output - 1);
    p->output[size] = '\0';
    return p->status;
}

/* Lines of the output that begin with "FAILED", as one. The words of a failed test are cut after a kilobyte, and the
   output of a program is longer. */
static const char* failures_of(const program* p, char* to, size_t capacity)
{
    size_t size = 0;
    to[0] = '\0';
    for (const char* line = p->output; line != NULL && *line != '\0'; line = strchr(line, '\n'))
    {
        if (*line == '\n') line++;
        if (strncmp(line, "FAILED", 6) != 0) continue;
        int wrote = snprintf(to + size, capacity - size, "; %.*s", (int)strcspn(line, "\n"), line);
        if (wrote < 0 || size + (size_t)wrote >= capacity) break;
        size += (size_t)wrote;
    }
    return to;
}

void program_expect_status(program* p, int expected)
{
    int status = program_end(p);
    if (status == expected) return;
    fprintf(stderr, "%s\n", p->output);
    char failures[512];
    fail_msg("%s ended with %d, not %d%s", p->path, status, expected, failures_of(p, failures, sizeof failures));
}

void program_expect_text(const program* p, const char* text)
{
    if (strstr(p->output, text) == NULL) fail_msg("%s did not print '%s':\n%s", p->path, text, p->output);
}

long long program_number_before(const program* p, const char* phrase)
{
    const char* at = strstr(p->output, phrase);
    if (at == NULL) fail_msg("%s did not print '%s':\n%s", p->path, phrase, p->output);
    while (at > p->output && at[-1] >= '0' && at[-1] <= '9') at--;
    return strtoll(at, NULL, 10);
}
