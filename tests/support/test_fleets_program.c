/* The program behind tests/fleet.sh: it says who listens where, does as it is told, and leaves nothing behind. */

#include "support/process.h"
#include "support/scene/program.h"
#include "support/server/cluster.h"
#include "support/server/raw.h"
#include "support/server/stream.h"
#include "support/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool answers(const char* address)
{
    int descriptor = stream_connect(address);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
}

static program runs;
static int ends[2]; /* of its input */

static int run_with_input(void* context, int results)
{
    const program* p = context;
    CHILD_CHECK(dup2(ends[0], STDIN_FILENO) >= 0 && dup2(results, STDOUT_FILENO) >= 0);
    close(ends[1]);
    execv(p->path, (char* const*)(uintptr_t)p->arguments);
    return 99;
}

/* Reads on until it has told the addresses once more; they are its last line. */
static void read_on(char addresses[512])
{
    static const char word[] = "\naddresses: ";
    size_t size = strlen(runs.output);
    char* begin = runs.output + size;
    const char* at = NULL;
    while (at == NULL || strchr(at, '\n') == NULL)
    {
        assert_true(size + 1 < sizeof(runs.output));
        assert_int_equal(child_read(runs.child, runs.output + size, 1), 1);
        runs.output[++size] = '\0';
        at = strstr(begin, word);
        if (at != NULL) at += strlen(word);
    }
    snprintf(addresses, 512, "%.*s", (int)strcspn(at, "\n"), at);
}

static void start_program(const char* kind, char addresses[512])
{
    program_find(&runs, "guildhall_fleet");
    program_argument(&runs, kind);
    assert_int_equal(pipe(ends), 0);
    runs.child = child_start(run_with_input, &runs);
    close(ends[0]);
    read_on(addresses);
}

static void tell_program(const char* line, char addresses[512])
{
    assert_int_equal(write(ends[1], line, strlen(line)), strlen(line));
    read_on(addresses);
}

static unsigned how_many_answer(const char* addresses)
{
    char copy[512];
    unsigned count = 0;
    snprintf(copy, sizeof(copy), "%s", addresses);
    for (char* each = strtok(copy, ","); each != NULL; each = strtok(NULL, ",")) count += answers(each);
    return count;
}

static void program_obeys_and_ends_with_its_input(void** state)
{
    (void)state;
    char addresses[512];
    start_program("cluster", addresses);
    assert_int_equal(how_many_answer(addresses), 6);
    assert_null(strstr(runs.output, "killed"));
    tell_program("kill 0\n", addresses);
    assert_non_null(strstr(runs.output, " killed process 0\n"));
    assert_int_equal(how_many_answer(addresses), 5);
    tell_program("restart 0\n", addresses);
    assert_int_equal(how_many_answer(addresses), 6);
    tell_program("thaw 17\n", addresses);
    assert_non_null(strstr(runs.output, "kill N, freeze N"));
    close(ends[1]);
    assert_int_equal(child_wait(runs.child), 0);
    assert_int_equal(how_many_answer(addresses), 0);
}

static void program_moves_slots_and_nodes(void** state)
{
    (void)state;
    char addresses[512];
    start_program("cluster", addresses);
    tell_program("reshard 20\n", addresses);
    tell_program("add\n", addresses);
    assert_int_equal(how_many_answer(addresses), 7);
    tell_program("reshard 20\n", addresses); /* to the new one, which has none */
    tell_program("remove 6\n", addresses);
    assert_int_equal(how_many_answer(addresses), 6);
    tell_program("freeze 0\n", addresses);
    assert_null(strstr(runs.output, "kill N, freeze N"));
    size_t before = strlen(runs.output);
    tell_program("settle\n", addresses); /* without it, so its replica is a master then */
    assert_non_null(strstr(runs.output + before, "0 127.0.0.1:"));
    assert_non_null(strstr(runs.output + before, " frozen process"));
    unsigned masters = 0;
    for (const char* at = runs.output + before; (at = strstr(at, " master ")) != NULL; at++) masters++;
    assert_int_equal(masters, 3);
    tell_program("remove 6\n", addresses); /* it is gone */
    assert_non_null(strstr(runs.output, "kill N, freeze N"));
    close(ends[1]);
    assert_int_equal(child_wait(runs.child), 0);
}

/* Of the last line that shows a server: "3 127.0.0.1:10004 replica process 4711". */
static void find_server(int number, char address[32], char role[16])
{
    char begin[16];
    const char* last = NULL;
    snprintf(begin, sizeof(begin), "\n%d 127", number);
    if (strncmp(runs.output, begin + 1, strlen(begin + 1)) == 0) last = runs.output;
    for (const char* at = strstr(runs.output, begin); at != NULL; at = strstr(at + 1, begin)) last = at + 1;
    assert_non_null(last);
    assert_int_equal(sscanf(last, "%*d %31s %15s", address, role), 2);
}

static redisContext* context_of(int number)
{
    char address[32], role[16];
    find_server(number, address, role);
    redisContext* context = redisConnect("127.0.0.1", atoi(strchr(address, ':') + 1));
    assert_true(context != NULL && context->err == 0);
    return context;
}

static bool a_set_waits_at(redisContext* server)
{
    redisReply* clients = redisCommand(server, "CLIENT LIST");
    assert_non_null(clients);
    bool found = strstr(clients->str, " cmd=set ") != NULL;
    freeReplyObject(clients);
    return found;
}

static long long size_at(redisContext* server, const char* key)
{
    redisReply* reply = redisCommand(server, "STRLEN %s", key);
    assert_non_null(reply);
    long long size = reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    freeReplyObject(reply);
    return size;
}

static void held_server_takes_no_writes(void** state)
{
    (void)state;
    char addresses[512], master[32], role[16], line[64], key[16], tag[CLUSTER_TAG_SIZE];
    cluster_tag(0, tag);
    snprintf(key, sizeof(key), "{%s}", tag);
    start_program("cluster", addresses);
    find_server(0, master, role);
    redisContext* reader = context_of(0);
    int writer = raw_connect(master);
    tell_program("hold 0\n", addresses);
    snprintf(line, sizeof(line), "SET %s told\r\n", key);
    raw_say(writer, line);
    WAIT_FOR(a_set_waits_at(reader));
    assert_int_equal(size_at(reader, key), 0);
    tell_program("release 0\n", addresses);
    raw_expect_text(writer, "+OK\r\n");
    assert_int_equal(size_at(reader, key), 4);
    redisFree(reader);
    close(ends[1]);
    assert_int_equal(child_wait(runs.child), 0);
}

/* So much at once is on its way for longer than it takes to kill. */
#define MUCH_BYTES (64u << 20)

static int master_of_three(void)
{
    char address[32], role[16];
    for (int i = 3; i < 6; i++)
    {
        find_server(i, address, role);
        if (strcmp(role, "master") == 0) return i;
    }
    return -1;
}

static void held_server_takes_nothing_along_when_it_is_killed(void** state)
{
    (void)state;
    char addresses[512], key[16], tag[CLUSTER_TAG_SIZE];
    char* much = calloc(1, MUCH_BYTES);
    assert_non_null(much);
    cluster_tag(0, tag);
    snprintf(key, sizeof(key), "{%s}", tag);
    start_program("cluster", addresses);
    redisContext* writer = context_of(0);
    redisReply* reply = redisCommand(writer, "SET %s %b", key, much, (size_t)MUCH_BYTES);
    free(much);
    assert_true(reply != NULL && reply->type == REDIS_REPLY_STATUS);
    freeReplyObject(reply);
    redisFree(writer);
    tell_program("hold 0\n", addresses);
    tell_program("kill 0\n", addresses);
    tell_program("settle\n", addresses);
    assert_int_not_equal(master_of_three(), -1);
    redisContext* reader = context_of(master_of_three());
    assert_int_equal(size_at(reader, key), MUCH_BYTES);
    redisFree(reader);
    close(ends[1]);
    assert_int_equal(child_wait(runs.child), 0);
}

static void servers_of_a_program_that_is_killed_do_not_survive_it(void** state)
{
    (void)state;
    char addresses[512];
    start_program("sentinel", addresses);
    assert_int_equal(how_many_answer(addresses), 3);
    child_kill9(runs.child);
    WAIT_FOR(how_many_answer(addresses) == 0);
    close(ends[1]);
}

TEST_FILE(fleets_program, cmocka_unit_test(program_obeys_and_ends_with_its_input),
          cmocka_unit_test(program_moves_slots_and_nodes), cmocka_unit_test(held_server_takes_no_writes),
          cmocka_unit_test(held_server_takes_nothing_along_when_it_is_killed),
          cmocka_unit_test(servers_of_a_program_that_is_killed_do_not_survive_it));
