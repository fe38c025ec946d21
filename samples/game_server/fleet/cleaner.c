/* cleaner.c -- removes the keys of a world, some hundred at a time. */

#include "cleaner.h"

#include <stdio.h>

/* On one server, that is; on a Cluster each node would have to be asked. */
static const char remove_some[] = "local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', '500')\n"
                                  "for _, key in ipairs(page[2]) do redis.call('UNLINK', key) end\n"
                                  "return page[1]\n";

void cleaner_begin(cleaner* c, gh_client* client, const char* prefix)
{
    *c = (cleaner){.client = client, .cursor = "0"};
    c->script.text = gh_str_of(remove_some);
    snprintf(c->pattern, sizeof c->pattern, "%s:*", prefix);
}

static void ask(cleaner* c)
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    config.reply_memory = c->reply;
    config.reply_size = sizeof c->reply;
    c->arguments[0] = gh_str_of(c->cursor);
    c->arguments[1] = gh_str_of(c->pattern);
    c->asked = gh_script_begin(&c->op, c->client, &c->script, NULL, 0, c->arguments, 2, &config) == GH_OK;
}

bool cleaner_frame(cleaner* c)
{
    gh_status status = c->asked ? gh_op_poll(&c->op.op) : GH_IDLE;
    if (status == GH_PENDING) return false;
    if (status == GH_OK)
    {
        gh_str cursor = gh_command_reply(&c->op)->text;
        snprintf(c->cursor, sizeof c->cursor, "%.*s", (int)cursor.size, cursor.bytes);
        if (strcmp(c->cursor, "0") == 0) return true;
    }
    ask(c);
    return false;
}
