/* papers.c -- the certificates of the tests: made once, read once. */

#include "support/server/papers.h"

#include "support/scratch.h"
#include "support/source_tree.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAPERS_MAX 64 /* papers.sh makes some forty */

static struct
{
    char name[24];
    char path[SCRATCH_PATH_SIZE + 32];
    gh_str text;
} papers[PAPERS_MAX];

static const char* folder(void)
{
    static char path[SCRATCH_PATH_SIZE + 16];
    char script[SOURCE_TREE_PATH_SIZE], command[SOURCE_TREE_PATH_SIZE + 256];
    if (path[0] != '\0') return path;
    if (!source_tree_path(script, "tests/tls/papers.sh")) suite_skip("tests/tls/papers.sh is not there");
    if (system("command -v openssl > /dev/null") != 0) suite_skip("there is no openssl");
    snprintf(path, sizeof(path), "%s/papers", scratch_root());
    mkdir(path, 0700);
    snprintf(command, sizeof(command), "bash '%s' '%s' > '%s/log' 2>&1", script, path, path);
    if (system(command) == 0) return path;
    snprintf(command, sizeof(command), "cat '%s/log' >&2", path);
    path[0] = '\0';
    if (system(command) != 0) fprintf(stderr, "no log either\n");
    fail_msg("%s", "the certificates could not be made; the log is above");
    return NULL;
}

static gh_str read_whole(const char* path)
{
    FILE* file = fopen(path, "rb");
    char* text = calloc(1, 65536);
    if (file == NULL || text == NULL) fail_msg("cannot read %s", path);
    size_t size = fread(text, 1, 65535, file);
    fclose(file);
    return gh_str_make(text, size);
}

static size_t paper_of(const char* name)
{
    size_t i = 0;
    while (i < PAPERS_MAX && papers[i].name[0] != '\0' && strcmp(papers[i].name, name) != 0) i++;
    if (i == PAPERS_MAX) fail_msg("%s", "more papers than there is room for");
    if (papers[i].name[0] != '\0') return i;
    snprintf(papers[i].path, sizeof(papers[i].path), "%s/%s", folder(), name);
    papers[i].text = read_whole(papers[i].path);
    snprintf(papers[i].name, sizeof(papers[i].name), "%s", name);
    return i;
}

const char* papers_path(const char* name)
{
    return papers[paper_of(name)].path;
}

gh_str papers_read(const char* name)
{
    return papers[paper_of(name)].text;
}
