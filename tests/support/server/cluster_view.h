/* cluster_view.h -- what one node of a Cluster says of all nodes: its CLUSTER NODES, line by line.

       cluster_view view = cluster_view_of(node);
       const cluster_line* own = cluster_view_own(&view);
       ...
       cluster_view_free(&view); */

#ifndef GUILDHALL_TESTS_CLUSTER_VIEW_H
#define GUILDHALL_TESTS_CLUSTER_VIEW_H

#include "support/server/redis_server.h"

typedef struct cluster_line
{
    const char* id;
    const char* address; /* "127.0.0.1:10001@20001", with more behind it on newer servers  */
    const char* master; /* the id of its master; "-" if it is one itself                   */
    const char* slots;  /* "0-5460 7000", or ""                                            */
    const char* open;   /* those on their way, "[93->-<id>] [94-<-<id>]"; of the node itself alone */
    long long epoch;    /* of the election that made it master; the larger one is right    */
    bool own;           /* the line about the node that was asked                          */
    bool is_master;
    bool good; /* neither failed, nor only heard of */
} cluster_line;

typedef struct cluster_view
{
    char* text;
    cluster_line* lines;
    size_t count;
} cluster_view;

cluster_view cluster_view_of(redis_server* node);

/* Of zeros is fine. */
void cluster_view_free(cluster_view* view);

const cluster_line* cluster_view_own(const cluster_view* view);

/* NULL if it knows no such node. */
const cluster_line* cluster_view_find(const cluster_view* view, const char* id);

unsigned cluster_line_count(const cluster_line* line);
bool cluster_line_has(const cluster_line* line, unsigned slot);

/* CLUSTER_SLOTS if it has none. */
unsigned cluster_line_first(const cluster_line* line);

#endif
