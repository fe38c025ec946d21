/* round.h -- a whole life of a client: made, connected, used, drained, ended. */

#ifndef GUILDHALL_TESTS_ROUND_H
#define GUILDHALL_TESTS_ROUND_H

#include <stdbool.h>
#include <stddef.h>

#define ROUND_MEMORY (256u * 1024u) /* at memory's alignment of 16 */

/* False: the server at that address did not answer within ten seconds, or not what it was asked. */
bool round_run(void* memory, const char* address);

#endif
