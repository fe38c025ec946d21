/* run_folder.c -- makes the folder of a run, and takes it away. */

#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */

#include "run_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_SHOWN 8192

bool run_folder_make(run_folder* f)
{
    const char* parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0') parent = "/tmp";
    snprintf(f->path, sizeof f->path, "%s/guildhall-fleet-XXXXXX", parent);
    if (mkdtemp(f->path) == NULL)
    {
        fprintf(stderr, "game_server: %s: %s\n", f->path, strerror(errno));
        return false;
    }
    snprintf(f->board, sizeof f->board, "%s/board", f->path);
    snprintf(f->output, sizeof f->output, "%s/output", f->path);
    snprintf(f->addresses, sizeof f->addresses, "%s/addresses.csv", f->path);
    snprintf(f->database, sizeof f->database, "%s/promotions.sqlite", f->path);
    return true;
}

void run_folder_show_output(const run_folder* f)
{
    static char bytes[OUTPUT_SHOWN];
    FILE* file = fopen(f->output, "rb");
    if (file == NULL) return;
    if (fseek(file, -OUTPUT_SHOWN, SEEK_END) != 0) rewind(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (size > 0) fprintf(stderr, "what the processes said last:\n%.*s", (int)size, bytes);
}

static int remove_entry(const char* path, const struct stat* about, int kind, struct FTW* place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

void run_folder_remove(const run_folder* f)
{
    if (nftw(f->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "game_server: %s stays: %s\n", f->path, strerror(errno));
}
