/* walk.c -- goes through the keys of the store, some hundred at a time. */

#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FOUND       "found"
#define UNKNOWN     "?" /* where the ACL refuses INFO: then its keys are gone through as often as it takes */
#define NO_TAG      UINT32_MAX
#define TAGS_OF_ALL 478u /* the numbers below lie in every group of 64 slots */

/* What was begun on one node and goes on at another, after a failover, begins anew there. */
#define TO_THE_PAGE                                                                                                    \
    "-- KEYS any of the node  ARGV cursor, whose it is, pattern, nodes that are done\n"                                \
    "local info = redis.pcall('INFO', 'server')\n"                                                                     \
    "local node = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or '" UNKNOWN "'\n"                    \
    "for i = 4, #ARGV do if ARGV[i] == node then return {node, '0'} end end\n"                                         \
    "local cursor = ARGV[2] == node and ARGV[1] or '0'\n"                                                              \
    "local page = redis.call('SCAN', cursor, 'MATCH', ARGV[3], 'COUNT', '500')\n"

static const char* const texts[] = {
    [WALK_FIND] = TO_THE_PAGE "return {node, #page[2] > 0 and '" FOUND "' or page[1]}\n",
    [WALK_REMOVE] = TO_THE_PAGE "for _, key in ipairs(page[2]) do redis.call('UNLINK', key) end\n"
                                "return {node, page[1]}\n",
};

void walk_begin(walk* w, gh_client* client, const char* prefix, bool is_cluster, walk_kind kind)
{
    *w = (walk){.client = client, .tags = is_cluster ? TAGS_OF_ALL : 1};
    w->script.text = gh_str_of(texts[kind]);
    snprintf(w->prefix, sizeof w->prefix, "%s", prefix);
    snprintf(w->pattern, sizeof w->pattern, "%s:*", w->prefix);
    for (int i = 0; i < WALK_LANES; i++) w->lanes[i].tag = NO_TAG;
}

static void ask(walk* w, walk_lane* lane)
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    config.reply_memory = lane->reply;
    config.reply_size = sizeof lane->reply;
    size_t count = 0;
    snprintf(lane->key_text, sizeof lane->key_text, "%s:{%" PRIu32 "}:epoch", w->prefix, lane->tag);
    lane->key = gh_str_of(lane->key_text);
    lane->arguments[count++] = gh_str_of(lane->cursor);
    lane->arguments[count++] = gh_str_of(lane->node);
    lane->arguments[count++] = gh_str_of(w->pattern);
    for (uint32_t i = 0; i < w->done_count; i++) lane->arguments[count++] = gh_str_of(w->done[i]);
    lane->asked =
        gh_script_begin(&lane->op, w->client, &w->script, &lane->key, 1, lane->arguments, count, &config) == GH_OK;
}

static void node_is_done(walk* w, const char* node)
{
    if (strcmp(node, UNKNOWN) == 0) return;
    for (uint32_t i = 0; i < w->done_count; i++)
        if (strcmp(w->done[i], node) == 0) return;
    if (w->done_count < WALK_NODES) snprintf(w->done[w->done_count++], WALK_NODE_SIZE, "%s", node);
}

static void take(walk* w, walk_lane* lane)
{
    const gh_reply* reply = gh_command_reply(&lane->op);
    gh_str node, cursor;
    if (!gh_reply_str(gh_reply_at(reply, 0), &node) || !gh_reply_str(gh_reply_at(reply, 1), &cursor)) return;
    snprintf(lane->node, sizeof lane->node, "%.*s", (int)node.size, node.bytes);
    snprintf(lane->cursor, sizeof lane->cursor, "%.*s", (int)cursor.size, cursor.bytes);
    w->answers++;
    if (strcmp(lane->cursor, FOUND) == 0) w->found = true;
    if (strcmp(lane->cursor, "0") != 0) return;
    node_is_done(w, lane->node);
    lane->tag = NO_TAG;
}

/* True while it has something to do. */
static bool lane_frame(walk* w, walk_lane* lane)
{
    if (lane->asked)
    {
        gh_status status = gh_op_poll(&lane->op.op);
        if (status == GH_PENDING) return true;
        lane->asked = false;
        if (status == GH_OK) take(w, lane);
    }
    if (lane->tag == NO_TAG && w->next < w->tags && !w->found)
    {
        lane->tag = w->next++;
        snprintf(lane->cursor, sizeof lane->cursor, "0");
        lane->node[0] = '\0';
    }
    if (lane->tag == NO_TAG || w->found) return false;
    ask(w, lane);
    return true;
}

bool walk_frame(walk* w)
{
    bool goes_on = false;
    for (int i = 0; i < WALK_LANES; i++) goes_on = lane_frame(w, &w->lanes[i]) || goes_on;
    return !goes_on;
}
