/* till.h -- a game whose commands run once, behind a proxy that loses their answers. */

#ifndef GUILDHALL_TESTS_TILL_H
#define GUILDHALL_TESTS_TILL_H

#include "support/command.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"

typedef struct till
{
    redis_server* server;
    chaos_proxy* proxy;
    game* game;
} till;

/* Its link is ready. NULL options: the plain server; request_timeout_us 0: as in all tests. */
till till_open(const redis_server_options* options, uint64_t request_timeout_us);

/* The answer to what is asked next is lost with its link. */
void till_lose_the_answer(till* self);

/* command_config with GH_REPEAT_ONCE, and room for long answers. */
gh_command_config once_config(game* owner);

gh_command* say_once(game* from, const char* line);

/* With the arguments "first" and "second". */
gh_command* run_once(game* from, gh_script* script, const char* keys);

/* "<head>:once:<token>" of a command that has begun. */
void once_receipt(char out[128], const char* head, const game* owner, const gh_command* command);

#endif
