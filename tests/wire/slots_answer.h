/* slots_answer.h -- answers of CLUSTER SLOTS for tests: made; read by slots_reader.h into text; and read by hiredis
   into the same text.

   The text has a line a row, and the verdict at its end:

       0-5460 10.0.0.7:6379 node-1.example 2      its host and port, the name announced or "-", replicas
       5461-5461 asked:6379 - 0
       5462-9000 nowhere - 1                      "bad" for a host or a port that is none
       none                                       not a good row
       done                                       or: more, broken, no map */

#ifndef GUILDHALL_TESTS_SLOTS_ANSWER_H
#define GUILDHALL_TESTS_SLOTS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "support/buffer.h"
#include "support/random.h"
#include "wire/slots_reader.h"

/* Adds to the buffer, whose bytes are a text with a NUL at the end. */
void slots_print(byte_buffer* to, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* A host of NULL is nil; a name of NULL is not announced; a port as a text, so that it may be anything. */
void slots_put_node(byte_buffer* to, const char* host, const char* port, const char* name);

/* Reads bytes in pieces that end at random places, none longer than `most`; 0: in one piece. Pieces lie in memory of
   exactly their size, and the reader moves between them. Returns what was used. */
size_t slots_read(byte_buffer* text, const char* bytes, size_t size, random_stream* stream, size_t most);

/* The same text, by hiredis and the rules of slots_reader.h. The bytes must begin with a whole reply of RESP2. */
void slots_read_by_hiredis(byte_buffer* text, const char* bytes, size_t size);

#endif
