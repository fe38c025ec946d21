/* fake_default.h -- how the fake server answers a handshake when no real server is behind it. */

#ifndef GUILDHALL_TESTS_FAKE_DEFAULT_H
#define GUILDHALL_TESTS_FAKE_DEFAULT_H

#include "support/server/fake_server.h"

/* PING, ECHO, AUTH, SELECT, CLIENT, SCRIPT LOAD and EXISTS, INFO, CONFIG GET, TIME, ROLE, SUBSCRIBE,
   UNSUBSCRIBE; an error to all others. */
void fake_default_answer(const fake_request* request, fake_reply* reply);

#endif
