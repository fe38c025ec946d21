/* clock.c -- a file with an offset, which clock_shim.c adds to a server's clock. */

#include "support/clock.h"

#include "support/scratch.h"
#include "support/source_tree.h"
#include "support/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE (SCRATCH_PATH_SIZE + 32)

/* What the file holds; clock_shim.c knows the same shape. */
typedef struct clock_page
{
    _Atomic int64_t offset_us;
    _Atomic int64_t attached;
    _Atomic int64_t held_us;
} clock_page;

struct clock_offset
{
    clock_page* page;
    char library[PATH_SIZE];
    char file[PATH_SIZE];
};

static bool compile(const char* compiler, const char* source, const char* library)
{
    pid_t pid = fork();
    if (pid == 0)
    {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        execlp(compiler, compiler, "-shared", "-fPIC", "-O1", "-DCLOCK_SHIM", "-D_GNU_SOURCE", "-o", library, source,
               (char*)NULL);
        _exit(127);
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Once a run: the library stays in the run's folder. */
static bool build(const char* library)
{
    char source[SOURCE_TREE_PATH_SIZE];
    if (access(library, R_OK) == 0) return true;
    if (!source_tree_path(source, "tests/support/clock_shim.c")) return false;
    return compile("cc", source, library) || compile("gcc", source, library) || compile("clang", source, library);
}

clock_offset* clock_open(const char* folder)
{
    char library[PATH_SIZE];
    snprintf(library, sizeof(library), "%s/clock_shim.so", scratch_root());
    if (!build(library)) suite_skip("the clock shim could not be compiled (is there a C compiler?)");

    clock_offset* clock = calloc(1, sizeof(*clock));
    if (clock == NULL) abort();
    memcpy(clock->library, library, sizeof(library));
    snprintf(clock->file, sizeof(clock->file), "%s/clock", folder);
    int descriptor = open(clock->file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0 || ftruncate(descriptor, sizeof(clock_page)) != 0) abort();
    clock->page = mmap(NULL, sizeof(clock_page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (clock->page == MAP_FAILED) abort();
    close(descriptor);
    return clock;
}

void clock_close(clock_offset* clock)
{
    if (clock == NULL) return;
    munmap(clock->page, sizeof(clock_page));
    free(clock);
}

void clock_shift(clock_offset* clock, int64_t offset_us)
{
    clock->page->offset_us = offset_us;
}

void clock_hold(clock_offset* clock, int64_t moment_us)
{
    clock->page->held_us = moment_us;
}

bool clock_is_attached(const clock_offset* clock)
{
    return clock->page->attached != 0;
}

const char* clock_library(const clock_offset* clock)
{
    return clock->library;
}

const char* clock_file(const clock_offset* clock)
{
    return clock->file;
}
