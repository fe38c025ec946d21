/* till.c -- commands that run once: the game behind its proxy, and the names of receipts. */

#include "support/scene/till.h"

#include <stdio.h>

#define REPLY_SIZE (32 * 1024)

till till_open(const redis_server_options* options, uint64_t request_timeout_us)
{
    till self = {.server = redis_server_start(options)};
    self.proxy = proxy_start(redis_server_address(self.server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(self.proxy));
    config.wake = false;
    config.backoff_min_us = 1000;
    if (request_timeout_us > 0) config.request_timeout_us = request_timeout_us;
    self.game = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(self.game->client));
    return self;
}

void till_lose_the_answer(till* self)
{
    proxy_arm(self->proxy, PROXY_REPLY, 0, PROXY_FIN);
}

gh_command_config once_config(game* owner)
{
    return command_config(owner, GH_REPEAT_ONCE, REPLY_SIZE);
}

gh_command* say_once(game* from, const char* line)
{
    gh_command_config config = once_config(from);
    return say(from, &config, line);
}

gh_command* run_once(game* from, gh_script* script, const char* keys)
{
    gh_command_config config = once_config(from);
    return run_script(from, &config, script, keys, "first second");
}

void once_receipt(char out[128], const char* head, const game* owner, const gh_command* command)
{
    snprintf(out, 128, "%s:once:%016llx:%016llx", head, (unsigned long long)gh_client_id(owner->client),
             (unsigned long long)command->op.sequence);
}
