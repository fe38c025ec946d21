/* scratch.c -- one folder for the run, and a sweeper process that outlives it. */

#define _XOPEN_SOURCE 700 /* nftw */

#include "support/scratch.h"

#include "support/cleanup.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[SCRATCH_PATH_SIZE];
static unsigned folder_count;
static pid_t sweeper;
static int sweeper_pipe = -1; /* the sweeper sees its end when this process is gone, however it went */

/* A shell and not a forked copy of this process: it holds none of our descriptors and does not show up as a
   second copy under valgrind. */
static void start_sweeper(void)
{
    static const char script[] = "trap '' INT TERM HUP; read end; rm -rf -- \"$0\" 2>/dev/null ||"
                                 " { sleep 1; rm -rf -- \"$0\"; }";
    int ends[2];
    if (pipe(ends) != 0) return;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    sweeper = fork();
    if (sweeper == 0)
    {
        dup2(ends[0], 0);
        execl("/bin/sh", "sh", "-c", script, root, (char*)NULL);
        _exit(127);
    }
    close(ends[0]);
    sweeper_pipe = ends[1];
}

const char* scratch_root(void)
{
    if (root[0] != '\0') return root;
    const char* base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/' || strlen(base) > 40) base = "/tmp";
    snprintf(root, sizeof(root), "%s/guildhall-XXXXXX", base);
    if (mkdtemp(root) == NULL)
    {
        fprintf(stderr, "cannot make a folder %s: %s\n", root, strerror(errno));
        exit(2);
    }
    start_sweeper();
    return root;
}

static void remove_and_free(void* path)
{
    scratch_remove(path);
    free(path);
}

void scratch_folder(char path[SCRATCH_PATH_SIZE])
{
    int size = snprintf(path, SCRATCH_PATH_SIZE, "%s/%u", scratch_root(), ++folder_count);
    if (size >= SCRATCH_PATH_SIZE || mkdir(path, 0700) != 0) fail_msg("cannot make %s: %s", path, strerror(errno));
    cleanup_add(remove_and_free, strdup(path));
}

static int remove_one(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void scratch_remove(const char* path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void scratch_close(void)
{
    if (sweeper_pipe < 0) return;
    close(sweeper_pipe);
    sweeper_pipe = -1;
    waitpid(sweeper, NULL, 0);
    root[0] = '\0';
}
