/* redis_server.h -- real redis-server (or valkey-server) processes for tests.

       start --> running <--thaw-- frozen
                   |  ^ --freeze-->  |
          stop, kill9 |restart       | stop, kill9
                   v  |              v
                  stopped <----------'            end: from every state; also done after each test

   Each server has a folder of its own under the run's scratch folder, listens on a unix socket there, and on
   loopback TCP when asked. It dies with the test binary, also when that is killed. Starting takes about 15
   ms. Every function fails the running test when it cannot do what it says; results are never NULL unless
   said so. */

#ifndef GUILDHALL_TESTS_REDIS_SERVER_H
#define GUILDHALL_TESTS_REDIS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <hiredis/hiredis.h>

typedef struct redis_server redis_server;

/* Zero is the plain server: unix socket only, nothing on disk, no password. Pointers are borrowed until the
   end. */
typedef struct redis_server_options
{
    bool append_only;     /* keeps its data over stop, kill9 and restart                                   */
    bool tcp;             /* also on 127.0.0.1, and on ::1 where the machine has it, at the same free port */
    bool clock;           /* redis_server_shift_clock works (the test is skipped without a C compiler)     */
    const char* tls;      /* at the port of tcp it speaks TLS alone, with this certificate of papers.h, and asks clients
                             for none; its unix socket is as ever. NULL: it does not                             */
    const char* user;     /* for the audit connection; NULL: the default user                              */
    const char* password; /* for the audit connection; also give --requirepass or an ACL in arguments      */
    const char* const* arguments; /* more of the command line, a word each, NULL at the end; NULL for none */
    const char* configuration;    /* text of a configuration file; what the server writes into it is there again after
                                     a restart. NULL: none                                                           */
    bool sentinel;                /* a Sentinel, which must have a configuration                                     */
} redis_server_options;

/* Starts a server and waits until it answers. NULL options: the plain server. */
redis_server* redis_server_start(const redis_server_options* options);

/* The server of --redis if there is one, else a plain one of its own. On a server of --redis only addresses,
   prefix and audits work, its keys outside the prefix are left alone, and those with the prefix are removed
   after the test. */
redis_server* redis_server_any(void);

/* A Cluster node that has all slots, with TCP, empty and without scripts. It takes its two seconds to be one, so it is
   started once and serves all tests that ask for it. Do not stop it. */
redis_server* redis_server_cluster_node(void);

/* Two of them, the first of which has all slots and the second none. Shared as well, and as empty. */
void redis_server_cluster_pair(redis_server* nodes[2]);

/* Before one gives a slot to the other: until that one knows the giver's epoch. A node that is given a slot takes a
   newer epoch than all it knows; if it does not know the giver's, the giver's older messages take the slot away again,
   and then each of the two says that the other has it. */
void redis_server_await_epoch(redis_server* taker, redis_server* giver);

/* "unix:/path", "127.0.0.1:PORT", "[::1]:PORT"; the latter two NULL when it does not listen there. Valid
   until the end of the server, the same after a restart. redis_server_address is the unix one, or that of
   --redis. */
const char* redis_server_address(const redis_server* server);
const char* redis_server_tcp_address(const redis_server* server);
const char* redis_server_tcp6_address(const redis_server* server);

/* The namespace prefix to use for keys: "gh" on a private server, a random one on the server of --redis. */
const char* redis_server_prefix(const redis_server* server);

/* The server's folder: socket, log, and data/ with what it has on disk. */
const char* redis_server_folder(const redis_server* server);

pid_t redis_server_pid(const redis_server* server);

/* Neither stopped nor frozen. */
bool redis_server_runs(const redis_server* server);

/* stop asks politely (SIGTERM) and waits; kill9 does not ask. Both return when the process is gone. */
void redis_server_stop(redis_server* server);
void redis_server_kill9(redis_server* server);

/* Starts again at the same addresses, after stop or kill9, or killing it first when it runs. With append_only
   the data is there again; restart_empty removes it before, and its configuration is as it was at first. Returns when
   the server answers. */
void redis_server_restart(redis_server* server);
void redis_server_restart_empty(redis_server* server);

/* SIGSTOP (returns when it really stands still) and SIGCONT. The kernel goes on accepting connections and
   bytes. */
void redis_server_freeze(redis_server* server);
void redis_server_thaw(redis_server* server);

/* Ends the server and removes its folder; the pointer is invalid then. Happens by itself after the test. */
void redis_server_end(redis_server* server);

/* Sets how far the server's wall clock is from the true one, in microseconds; positive is ahead. Needs
   options.clock. Survives restarts. TIME, leases and expiry follow at once. */
void redis_server_shift_clock(redis_server* server, int64_t offset_us);

/* Holds it at that moment, in microseconds since 1970, until the next call; see clock_hold. */
void redis_server_hold_clock(redis_server* server, int64_t moment_us);

/* ----------------------------------------------------------------------------------------------------
   Audits: synchronous commands on a connection of the test's own, connected again by itself when the server
   was restarted or cut it. The format is hiredis': %s for text, %b for bytes and size_t. A command is never
   sent twice. */

/* The reply; free it with freeReplyObject. Error replies are returned, a dead connection fails the test. */
redisReply* redis_server_command(redis_server* server, const char* format, ...);

/* The same, and NULL where the connection broke: a server that is made a replica cuts its clients off. */
redisReply* redis_server_try(redis_server* server, const char* format, ...);

/* Many at once: queue keeps a command, drain sends them all and wants no error for any. */
void redis_server_queue(redis_server* server, const char* format, ...);
void redis_server_drain(redis_server* server);

/* A command of any number of words, which may hold any bytes. */
redisReply* redis_server_words(redis_server* server, const char* const* words, const size_t* sizes, size_t count);

/* The whole numbers that an answer begins with, an array or one text of them; returns how many, at most `most`. */
size_t redis_server_numbers(const redisReply* reply, long long* numbers, size_t most);

/* All that the server has now is at so many replicas: WAIT alone is about what its own connection did before. */
void redis_server_await_replicas(redis_server* server, size_t count);

/* The reply must be an integer, or a text that is one. */
long long redis_server_integer(redis_server* server, const char* format, ...);

/* The reply must be a string, a status or nil (gives NULL). Valid until the next audit on this server. Ends
   in a NUL; redis_server_text_size tells the size of a binary one. */
const char* redis_server_text(redis_server* server, const char* format, ...);
size_t redis_server_text_size(const redis_server* server);

/* The whole number behind the word in what a command tells: "INFO replication", "master_repl_offset:". -1: it is not
   there. */
long long redis_server_told(redis_server* server, const char* command, const char* word);

/* The reply must not be an error; it is thrown away. */
void redis_server_do(redis_server* server, const char* format, ...);

/* How often the server has executed a command since it started, from INFO commandstats; lower case,
   "evalsha", "config|set". Calls inside scripts count too. */
long long redis_server_calls(redis_server* server, const char* command);

/* The number of keys; on the server of --redis, of those with the prefix. */
long long redis_server_keys(redis_server* server);

#endif
