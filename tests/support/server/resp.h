/* resp.h -- just enough of the protocol to know where a request or a reply ends. */

#ifndef GUILDHALL_TESTS_RESP_H
#define GUILDHALL_TESTS_RESP_H

#include <stddef.h>
#include <sys/types.h>

/* The size of the complete reply at the front of these bytes; 0 if it is not complete yet, -1 if it is
   none. */
ssize_t resp_reply_size(const char* bytes, size_t size);

/* Reads "<mark><number>\r\n". Returns the size of that line, 0 if it is not complete, -1 if it is none. */
ssize_t resp_header(const char* bytes, size_t size, char mark, long long* number);

#endif
