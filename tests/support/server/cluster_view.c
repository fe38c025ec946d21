/* cluster_view.c -- lines of CLUSTER NODES taken apart. */

#include "support/server/cluster_view.h"

#include "support/server/cluster.h"
#include "support/suite.h"
#include "support/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "<id> <address> <flags> <master> <ping> <pong> <epoch> <link> <slots ...>" */
#define ADDRESS 1
#define FLAGS   2
#define MASTER  3
#define EPOCH   6
#define WORDS   8

static bool has_flag(const char* flags, const char* flag)
{
    size_t size = strlen(flag);
    for (const char* at = flags;; at++)
    {
        size_t length = strcspn(at, ",");
        if (length == size && memcmp(at, flag, size) == 0) return true;
        at += length;
        if (*at == '\0') return false;
    }
}

/* Cuts the line at its blanks. The slots under way stand behind the others. */
static cluster_line read_line(char* text)
{
    const char* words[WORDS] = {"", "", "", "", "", "", "", ""};
    for (size_t i = 0; i < WORDS && *text != '\0'; i++)
    {
        words[i] = text;
        text += strcspn(text, " ");
        if (*text == ' ') *text++ = '\0';
    }
    char* open = strchr(text, '[');
    if (open != NULL && open > text) open[-1] = '\0';
    cluster_line line = {.id = words[0], .address = words[ADDRESS], .master = words[MASTER]};
    line.open = open == NULL ? "" : open;
    line.slots = open == text ? "" : text;
    line.epoch = strtoll(words[EPOCH], NULL, 10);
    line.own = has_flag(words[FLAGS], "myself");
    line.is_master = has_flag(words[FLAGS], "master");
    line.good = !has_flag(words[FLAGS], "fail") && !has_flag(words[FLAGS], "fail?") &&
                !has_flag(words[FLAGS], "handshake") && !has_flag(words[FLAGS], "noaddr");
    return line;
}

/* False: it answers nothing while it takes over the data of its master. */
static bool take_nodes(redis_server* node, char** text)
{
    redisReply* reply = redis_server_command(node, "CLUSTER NODES");
    bool is_loading = reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "LOADING ", 8) == 0;
    if (!is_loading && reply->type == REDIS_REPLY_ERROR) fail_msg("CLUSTER NODES: %s", reply->str);
    if (!is_loading) *text = strdup(reply->str);
    freeReplyObject(reply);
    return !is_loading;
}

cluster_view cluster_view_of(redis_server* node)
{
    cluster_view view = {NULL, NULL, 0};
    WAIT_SELDOM(take_nodes(node, &view.text), fprintf(stderr, "---- a node that loads without an end"));
    if (view.text == NULL) abort();
    for (char* at = strchr(view.text, '\n'); at != NULL; at = strchr(at + 1, '\n')) view.count++;
    view.lines = calloc(view.count + 1, sizeof(*view.lines));
    if (view.lines == NULL) abort();
    char* at = view.text;
    for (size_t i = 0; i < view.count; i++)
    {
        char* end = strchr(at, '\n');
        *end = '\0';
        view.lines[i] = read_line(at);
        at = end + 1;
    }
    return view;
}

void cluster_view_free(cluster_view* view)
{
    free(view->text);
    free(view->lines);
    memset(view, 0, sizeof(*view));
}

const cluster_line* cluster_view_own(const cluster_view* view)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->lines[i].own) return &view->lines[i];
    fail_msg("%s", "a node does not know itself");
    return NULL;
}

const cluster_line* cluster_view_find(const cluster_view* view, const char* id)
{
    for (size_t i = 0; i < view->count; i++)
        if (strcmp(view->lines[i].id, id) == 0) return &view->lines[i];
    return NULL;
}

/* The next range; false behind the last. */
static bool next_range(const char** at, unsigned* first, unsigned* last)
{
    char* end;
    if (**at == '\0') return false;
    *first = *last = (unsigned)strtoul(*at, &end, 10);
    if (*end == '-') *last = (unsigned)strtoul(end + 1, &end, 10);
    *at = *end == ' ' ? end + 1 : "";
    return true;
}

unsigned cluster_line_count(const cluster_line* line)
{
    unsigned count = 0;
    unsigned first;
    unsigned last;
    for (const char* at = line->slots; next_range(&at, &first, &last);) count += last - first + 1;
    return count;
}

bool cluster_line_has(const cluster_line* line, unsigned slot)
{
    unsigned first;
    unsigned last;
    for (const char* at = line->slots; next_range(&at, &first, &last);)
        if (slot >= first && slot <= last) return true;
    return false;
}

unsigned cluster_line_first(const cluster_line* line)
{
    unsigned first = CLUSTER_SLOTS;
    unsigned last;
    const char* at = line->slots;
    return next_range(&at, &first, &last) ? first : CLUSTER_SLOTS;
}
