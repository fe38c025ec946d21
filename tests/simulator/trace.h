/* trace.h -- all that happened, for a person to read: what went over the wire, and the records of the history, by time.
 */

#ifndef GUILDHALL_TESTS_SIMULATOR_TRACE_H
#define GUILDHALL_TESTS_SIMULATOR_TRACE_H

#include <stdbool.h>
#include <stddef.h>

/* From here on. */
void trace_begin(void);
bool trace_is_on(void);

/* A request that was carried out, and what was said to it; both as they are on the wire. */
void trace_request(const char* who, const char* request, size_t size, const char* reply, size_t reply_size);

/* Writes all of it, with the history. */
void trace_write(const char* path);

#endif
