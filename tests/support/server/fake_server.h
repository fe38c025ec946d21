/* fake_server.h -- a peer that says what the test wants: wrong types, errors, garbage, too much, nothing.

   It listens on a unix socket, takes RESP requests apart, and asks a callback (or a table of rules) what to
   send back. What the callback does not care about is answered by default: like a real server would, by a
   real server behind it if there is one, else by a small built-in one that knows the commands of a handshake.
   So a test can leave the whole session real and replace one reply.

   Threads: the callback runs on the fake's own thread. It must not assert; what it notes for the test must be
   atomic or be read after fake_server_end. */

#ifndef GUILDHALL_TESTS_FAKE_SERVER_H
#define GUILDHALL_TESTS_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_server fake_server;
typedef struct fake_reply fake_reply;

typedef struct fake_argument
{
    const char* bytes; /* not ended by a NUL */
    size_t size;
} fake_argument;

typedef struct fake_request
{
    uint64_t connection; /* 1 for the first that was accepted */
    uint64_t number;     /* 0 for the first request of the fake's life */
    size_t count;        /* of arguments, the command included; at least 1 */
    const fake_argument* arguments;
    const char* raw; /* as it came */
    size_t raw_size;
} fake_request;

/* Says what to send, by the functions below, as many as wanted; none at all: the request stays without an
   answer. */
typedef void (*fake_answer)(void* context, const fake_request* request, fake_reply* reply);

void fake_reply_text(fake_reply* reply, const char* text); /* "+OK\r\n": RESP, or not RESP, as it stands */
void fake_reply_bytes(fake_reply* reply, const void* bytes, size_t size);
void fake_reply_format(fake_reply* reply, const char* format, ...) __attribute__((format(printf, 2, 3)));
void fake_reply_bulk(fake_reply* reply, const char* format, ...) __attribute__((format(printf, 2, 3))); /* a string */
void fake_reply_fill(fake_reply* reply, char byte, size_t count); /* that byte, count times */
void fake_reply_endless(fake_reply* reply, char byte);            /* that byte until the peer closes */
void fake_reply_default(fake_reply* reply);                       /* as a real server would answer */
void fake_reply_close(fake_reply* reply);                         /* closes when all is sent */

/* What was put together so far, for a change: the size can be cut, the bytes altered. */
char* fake_reply_so_far(fake_reply* reply, size_t* size);
void fake_reply_cut(fake_reply* reply, size_t size);

/* True for the command, in any case; two words ("SCRIPT LOAD") compare the first two arguments. */
bool fake_request_is(const fake_request* request, const char* command);

/* The answer NULL: everything by default. server_address NULL: no real server behind. Ended by itself after
   the test; the context must live as long. */
fake_server* fake_server_start(fake_answer answer, void* context, const char* server_address);
void fake_server_end(fake_server* fake);

/* "unix:/path" */
const char* fake_server_address(const fake_server* fake);

/* What is sent to each new connection before it has said anything; the bytes are copied, NULL for nothing. A
   server that is full sends "-ERR max number of clients reached\r\n" and closes. */
void fake_server_greet(fake_server* fake, const char* text, bool then_close);

/* Since the start. Malformed: connections that sent what is no array of bulk strings; they are closed. */
uint64_t fake_server_connections(fake_server* fake);
uint64_t fake_server_requests(fake_server* fake);
uint64_t fake_server_malformed(fake_server* fake);

/* ----------------------------------------------------------------------------------------------------
   Rules: a table instead of a callback. The first rule that fits answers; none: by default.

       fake_rule rules[] = {{.command = "EVALSHA", .text = "-BUSY Redis is busy\r\n", .times = 2}};
       fake_rules table = {rules, 1};
       fake_server_start(fake_answer_by_rules, &table, NULL); */
typedef struct fake_rule
{
    const char* command; /* NULL fits every command; two words as above                     */
    const char* text;    /* what is sent; "" or NULL for nothing                            */
    size_t size;         /* of the text, when it has a NUL in it; 0: up to its NUL          */
    unsigned skip;       /* this many fitting requests are answered by default before       */
    unsigned times;      /* and it answers this many; 0: all                                */
    bool execute;        /* the real server gets the request all the same, its reply is dropped */
    bool close;          /* closes afterwards                                               */
    unsigned seen;       /* fitting requests so far: leave at 0; read it after fake_server_end */
} fake_rule;

typedef struct fake_rules
{
    fake_rule* rules;
    size_t count;
} fake_rules;

void fake_answer_by_rules(void* context, const fake_request* request, fake_reply* reply);

#endif
