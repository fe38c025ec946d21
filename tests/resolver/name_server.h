/* name_server.h -- a DNS server of the tests' own, on UDP and TCP of one loopback port. It says what it was told to
   say, and goes on only inside name_server_serve, which a test calls beside its ticks.

       name_server* names = name_server_start();
       name_server_say(names, "store.example", "127.0.0.1 ::1");
       config.servers = gh_str_of(name_server_address(names));

   Names that it was told nothing of do not exist. */

#ifndef GUILDHALL_TESTS_NAME_SERVER_H
#define GUILDHALL_TESTS_NAME_SERVER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum name_server_mood
{
    NAMES_ANSWERS = 0,
    NAMES_SERVFAIL,     /* the server has failed                           */
    NAMES_REFUSED,      /* it does not want to                             */
    NAMES_SILENT,       /* says nothing                                    */
    NAMES_SILENT_SIX,   /* answers for IPv4, and says nothing for IPv6     */
    NAMES_TRUNCATED,    /* by UDP: ask again by TCP                        */
    NAMES_HANGS_UP,     /* the same, but it closes what comes by TCP, and then says so for IPv6 */
    NAMES_GARBAGE,      /* random bytes, then silence                      */
    NAMES_TORN,         /* the beginning of an answer, at each length once */
    NAMES_LYING_LENGTH, /* records that say that they are longer than they are */
    NAMES_LOOP,         /* a name that points to itself                    */
    NAMES_FORGED,       /* another id, then another question               */
    NAMES_HELD          /* kept until name_server_release                  */
} name_server_mood;

typedef struct name_server name_server;

name_server* name_server_start(void);

/* "127.0.0.1:PORT", until the end of the test. */
const char* name_server_address(const name_server* self);

/* Numbers with spaces between; "": the name exists and has none; NULL: it does not exist. */
void name_server_say(name_server* self, const char* name, const char* addresses);
void name_server_mood_of(name_server* self, name_server_mood mood);

/* Dead: its port is closed, and whoever asks is told so by the kernel. Back: at the same port. */
void name_server_die(name_server* self);
void name_server_come_back(name_server* self);

/* Reads what was asked, and answers. */
void name_server_serve(name_server* self);

/* Sends what was held. How many there were. */
unsigned name_server_release(name_server* self);

/* Questions so far: all, and by TCP. */
unsigned name_server_asked(const name_server* self);
unsigned name_server_asked_by_tcp(const name_server* self);

#endif
