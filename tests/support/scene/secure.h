/* secure.h -- with --tls, what a client of the tests speaks TLS through: a gh_tls of its own, around the platform that
   finds the door of each address (doors.h). */

#ifndef GUILDHALL_TESTS_SECURE_H
#define GUILDHALL_TESTS_SECURE_H

#include "guildhall/guildhall.h"

typedef struct secure_way secure_way;

/* NULL: the client connects as it always did, because --tls was not given or nobody speaks TLS at that address. */
secure_way* secure_open(gh_str address);

/* What the client gets; of NULL, the default platform. */
const gh_platform* secure_platform(secure_way* way);

/* After the client was shut down. NULL is fine. */
void secure_close(secure_way* way);

/* Whether guildhall_tests was built with TLS. */
bool secure_is_there(void);

/* The last line but one of a run with --tls: how many clients spoke TLS, and how many did not. */
void secure_print(void);

#endif
