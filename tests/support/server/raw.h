/* raw.h -- both ends of a connection in the hands of a test: bytes out, bytes in, and how it ended.

   Descriptors are closed after the test by themselves. Everything that waits fails the test after the cap of
   wait.h. */

#ifndef GUILDHALL_TESTS_RAW_H
#define GUILDHALL_TESTS_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum raw_end
{
    RAW_FIN,  /* the peer closed in the ordinary way */
    RAW_RESET /* the peer's end broke                */
} raw_end;

/* Connects to an address as in stream.h; fails the test when that fails. */
int raw_connect(const char* address);

/* Listens as "unix:/path" in a folder of its own, or on a loopback port. Writes the address. */
#define RAW_ADDRESS_SIZE 128
int raw_listen(bool tcp, char address[RAW_ADDRESS_SIZE]);

/* Waits for a connection. */
int raw_accept(int listener);

/* True if somebody waits to be accepted. */
bool raw_has_caller(int listener);

void raw_close(int descriptor);

/* Sends all of it. */
void raw_send(int descriptor, const void* bytes, size_t size);
void raw_say(int descriptor, const char* text);

/* The next bytes must be these. */
void raw_expect(int descriptor, const void* bytes, size_t size);
void raw_expect_text(int descriptor, const char* text);

/* What one read gives, waiting for the first byte; 0 at the end. */
size_t raw_read(int descriptor, void* bytes, size_t capacity);

/* Nothing more must come but the end, which it waits for. */
raw_end raw_expect_end(int descriptor);

/* True if nothing at all, the end neither, arrives within pause_us. */
bool raw_is_silent(int descriptor, uint64_t pause_us);

/* Moves many bytes from one end to the other, reading while it writes; they must arrive as they were. Returns
   how many did: fewer than size when either end broke. */
size_t raw_move(int from, int to, const void* bytes, size_t size);

#endif
