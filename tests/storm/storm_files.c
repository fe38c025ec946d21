/* storm_files.c -- files that are sent to two readers through a channel; whoever finds one reads it as either.

   A file is named by the op that sends it, and its bytes follow from the number. Some senders stop when it is open,
   as if they had crashed, and another one goes on under the same name. Who finds a file sometimes removes it. */

#include "guildhall/files.h"

#include "storm/storm.h"
#include "storm/storm_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    ENTRIES = 16,
    CHUNK = 2048,
    SIZE_MOST = 20000,
    STEPS = 11, /* of a file's letters */
    LETTERS = 26,
    TURN = 97
};

typedef struct file_actor
{
    storm_client* me;
    random_stream random;
    gh_file_send send;
    gh_file_send_config send_config;
    char send_name[16];
    uint32_t send_op;
    uint32_t again; /* the file that is to be sent again; 0: a new one */
    uint64_t pushed;
    char next[1000];  /* what is pushed next */
    uint32_t next_op; /* of which file; 0: of none yet */
    uint64_t next_at; /* from where on */
    bool finished;
    gh_files_list list;
    gh_file_entry entries[ENTRIES];
    char names[ENTRIES * GH_NAME_SIZE_MAX];
    uint64_t last_number; /* of the files that were listed */
    uint32_t list_op;
    gh_file_read read;
    gh_file_read_config read_config;
    char read_name[16];
    uint32_t read_op;
    bool said_done;
    gh_file_remove removal;
    uint32_t remove_op;
} file_actor;

static const char* const whats[] = {"?", "send", "list", "read", "look", "remove", "channel"};
static const gh_str readers[FILES_READERS] = {GH_STR_INIT("north"), GH_STR_INIT("south")};
static const gh_str channel = GH_STR_INIT("logs");

/* The bytes of a file are letters, each so many behind the one before it; with each turn they begin one letter later.
   They come by the piece: a few per cent of a run would go into them one by one. */
static char turns[STEPS][LETTERS][TURN];

static void write_turns(void)
{
    if (turns[0][0][0] != 0) return; /* who came first has written them */
    for (uint32_t step = 0; step < STEPS; step++)
    {
        for (uint32_t letter = 0; letter < LETTERS; letter++)
        {
            for (uint32_t i = 0; i < TURN; i++)
                turns[step][letter][i] = (char)('a' + (letter + i * (step + 1)) % LETTERS);
        }
    }
}

/* From one place of a file on, up to the end of its turn. */
static gh_str letters_from(uint32_t op, uint64_t at)
{
    uint32_t step = op % STEPS, into = (uint32_t)(at % TURN);
    uint64_t first = op * 7u + (at - into) * (step + 1) + at / TURN;
    return gh_str_make(turns[step][first % LETTERS] + into, TURN - into);
}

static void start(void* actor, storm_client* me, random_stream random)
{
    file_actor* a = actor;
    write_turns();
    a->me = me;
    a->random = random;
    a->send_config = gh_file_send_config_default();
    a->send_config.channel = channel;
    a->send_config.readers = readers;
    a->send_config.reader_count = FILES_READERS;
    a->send_config.chunk_bytes = CHUNK;
    a->send_config.progress_us = 3000000;
    if (storm.ancient) a->send_config.lease_us = GH_FILE_LEASE_MAX_US; /* nobody may be given up while all sleep */
    a->send_config.memory_size = gh_file_send_memory(&a->send_config);
    a->send_config.memory = aligned_alloc(64, (a->send_config.memory_size + 63) / 64 * 64);
    a->read_config = gh_file_read_config_default();
    a->read_config.channel = channel;
    a->read_config.chunk_bytes = CHUNK;
    a->read_config.keep = GH_FILE_AT_END;
    a->read_config.progress_us = 3000000;
    a->read_config.memory_size = gh_file_read_memory(&a->read_config);
    a->read_config.memory = aligned_alloc(64, (a->read_config.memory_size + 63) / 64 * 64);
    if (a->send_config.memory == NULL || a->read_config.memory == NULL) abort();
}

/* ---- send -------------------------------------------------------------------------------------------------- */

uint32_t files_begun_by(uint32_t send)
{
    return history_at(send)->about != 0 ? history_at(send)->about : send;
}

static void begin_send(file_actor* a)
{
    uint64_t size = a->again != 0 ? history_at(a->again)->a : random_below(&a->random, SIZE_MOST);
    a->send_op = history_begin(a->me->who, STORM_files, FILES_SEND, 0);
    if (a->send_op == 0) return;
    history_at(a->send_op)->a = size;
    history_at(a->send_op)->about = a->again;
    a->again = 0;
    int length = snprintf(a->send_name, sizeof a->send_name, "%u", files_begun_by(a->send_op));
    a->pushed = 0;
    a->finished = false;
    a->send_config.size_bytes = random_one_in(&a->random, 2) ? size : 0;
    a->send_config.stream = random_one_in(&a->random, 2);
    gh_status status =
        gh_file_send_begin(&a->send, a->me->client, gh_str_make(a->send_name, (size_t)length), &a->send_config);
    if (status == GH_OK) return;
    history_end(a->send_op, STORM_NOT_DONE, status);
    a->send_op = 0;
}

/* While there is no room the same is pushed again and again. */
static void write_next(file_actor* a)
{
    if (a->next_op == a->send_op && a->next_at == a->pushed) return;
    for (size_t i = 0; i < sizeof a->next;)
    {
        gh_str own = letters_from(files_begun_by(a->send_op), a->pushed + i);
        size_t left = sizeof a->next - i, size = own.size < left ? own.size : left;
        memcpy(a->next + i, own.bytes, size);
        i += size;
    }
    a->next_op = a->send_op;
    a->next_at = a->pushed;
}

static void push_some(file_actor* a)
{
    uint64_t left = history_at(a->send_op)->a - a->pushed;
    size_t size = left < sizeof a->next ? (size_t)left : sizeof a->next, taken = 0;
    write_next(a);
    gh_status status = size == 0 ? GH_OK : gh_file_send_push(&a->send, gh_str_make(a->next, size), &taken);
    history_at(a->send_op)->b = a->pushed + taken;
    history_at(a->send_op)->c = (uint64_t)(int64_t)status;
    if (status != GH_OK && status != GH_PENDING) return;
    a->pushed += taken;
    if (a->pushed == history_at(a->send_op)->a) a->finished = gh_file_send_finish(&a->send) == GH_OK;
    if (a->finished) history_at(a->send_op)->d |= 1;
}

/* Whoever has begun the file stops now and then when it is open; what is on its way then may come late. */
static void note_open(file_actor* a)
{
    storm_record* record = history_at(a->send_op);
    if (a->send.id == 0 || (record->d & 2) != 0) return;
    record->d |= 2;
    if (record->about != 0 || a->finished || !random_one_in(&a->random, 4)) return;
    a->again = a->send_op;
    gh_op_cancel(&a->send.op);
}

static void turn_send(file_actor* a, bool may_begin)
{
    if (a->send_op == 0)
    {
        if (may_begin && (a->again != 0 || storm_is_time(&a->random, 200))) begin_send(a);
        return;
    }
    note_open(a);
    gh_status status = gh_op_poll(&a->send.op);
    if (status != GH_PENDING)
    {
        history_end(a->send_op, storm_outcome_of(status), status);
        a->send_op = 0;
    }
    else if (!a->finished && a->again == 0) push_some(a);
}

/* ---- list and read ----------------------------------------------------------------------------------------- */

static void begin_read(file_actor* a, const gh_file_entry* entry)
{
    unsigned op = 0;
    (void)snprintf(a->read_name, sizeof a->read_name, "%.*s", (int)entry->name.size, entry->name.bytes);
    if (sscanf(a->read_name, "%u", &op) != 1 || op > history_count()) return;
    uint64_t reader = random_below(&a->random, FILES_READERS);
    a->read_op = history_begin(a->me->who, STORM_files, FILES_READ, 0);
    if (a->read_op == 0) return;
    history_at(a->read_op)->about = op;
    history_at(a->read_op)->c = reader;
    a->said_done = false;
    gh_status status =
        gh_file_read_begin(&a->read, a->me->client, gh_str_of(a->read_name), readers[reader], &a->read_config);
    if (status == GH_OK) return;
    history_end(a->read_op, STORM_NOT_DONE, status);
    a->read_op = 0;
}

static void begin_remove(file_actor* a, const gh_file_entry* entry)
{
    char name[16];
    unsigned op = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)entry->name.size, entry->name.bytes);
    if (a->remove_op != 0 || sscanf(name, "%u", &op) != 1 || op > history_count()) return;
    a->remove_op = history_begin(a->me->who, STORM_files, FILES_REMOVE, 0);
    if (a->remove_op == 0) return;
    history_at(a->remove_op)->about = op;
    gh_status status = gh_file_remove_begin(&a->removal, a->me->client, entry->name, entry->id, channel, NULL);
    if (status == GH_OK) return;
    history_end(a->remove_op, STORM_NOT_DONE, status);
    a->remove_op = 0;
}

static void turn_remove(file_actor* a)
{
    if (a->remove_op == 0) return;
    gh_status status = gh_op_poll(&a->removal.op);
    if (status == GH_PENDING) return;
    history_end(a->remove_op, storm_outcome_of(status), status);
    a->remove_op = 0;
}

static void turn_list(file_actor* a, bool may_begin)
{
    if (a->list_op == 0)
    {
        if (!may_begin || a->read_op != 0 || !storm_is_time(&a->random, 30)) return;
        gh_files_list_config config = gh_files_list_config_default();
        config.entries = a->entries;
        config.entry_count = ENTRIES;
        config.names = a->names;
        config.names_size = sizeof a->names;
        config.wait_us = random_below(&a->random, 300000);
        config.after = random_one_in(&a->random, 2) ? 0 : a->last_number;
        a->list_op = history_begin(a->me->who, STORM_files, FILES_LIST, 0);
        if (a->list_op == 0) return;
        history_at(a->list_op)->a = config.after;
        gh_status status = gh_files_list_begin(&a->list, a->me->client, channel, &config);
        if (status == GH_OK) return;
        history_end(a->list_op, STORM_NOT_DONE, status);
        a->list_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->list.op);
    if (status == GH_PENDING) return;
    history_end(a->list_op, storm_outcome_of(status), status);
    a->list_op = 0;
    if (status == GH_OK && a->list.count > 0) a->last_number = a->list.entries[a->list.count - 1].number;
    if (status != GH_OK || a->list.count == 0 || a->read_op != 0 || !may_begin) return;
    const gh_file_entry* entry = &a->list.entries[random_below(&a->random, a->list.count)];
    if (random_one_in(&a->random, 8)) begin_remove(a, entry);
    else begin_read(a, entry);
}

/* A process may be killed anywhere in here, and what it has written down is judged. */
static void note_block(storm_record* record, gh_str block)
{
    while (block.size > 0)
    {
        gh_str own = letters_from(record->about, record->a);
        size_t size = own.size < block.size ? own.size : block.size;
        if (memcmp(block.bytes, own.bytes, size) != 0) record->b++;
        record->a += size;
        block = gh_str_make(block.bytes + size, block.size - size);
    }
}

static void turn_read(file_actor* a)
{
    if (a->read_op == 0) return;
    gh_str block;
    gh_status status = GH_OK;
    for (int i = 0; i < 4 && status == GH_OK && !a->said_done; i++)
    {
        status = gh_file_read_block(&a->read, &block);
        if (status == GH_OK) note_block(history_at(a->read_op), block);
    }
    if (status == GH_EMPTY && !a->said_done && gh_op_poll(&a->read.op) == GH_PENDING)
    {
        history_at(a->read_op)->d = 1;
        a->said_done = gh_file_read_done(&a->read) == GH_OK;
    }
    status = gh_op_poll(&a->read.op);
    if (status == GH_PENDING) return;
    history_end(a->read_op, status == GH_EXISTS ? STORM_DONE : storm_outcome_of(status), status);
    a->read_op = 0;
}

/* ---- the actor --------------------------------------------------------------------------------------------- */

static void turn(void* actor, bool may_begin)
{
    file_actor* a = actor;
    turn_send(a, may_begin);
    turn_list(a, may_begin);
    turn_read(a);
    turn_remove(a);
}

static bool idle(const void* actor)
{
    const file_actor* a = actor;
    return a->send_op == 0 && a->list_op == 0 && a->read_op == 0 && a->remove_op == 0;
}

/* By KEYS.md: n of :s is the last number of the channel, and its files lie in :l. */
static void witness(storm_look* look)
{
    static const char state[] = "gh:{files:logs}:s", list[] = "gh:{files:logs}:l";
    redisReply* last = storm_look_command(look, state, "HGET %s n", state);
    redisReply* count = storm_look_command(look, list, "ZCARD %s", list);
    storm_event event = {.system = STORM_files, .what = FILES_CHANNEL};
    bool known = last != NULL && count != NULL && count->type == REDIS_REPLY_INTEGER;
    if (known && last->type == REDIS_REPLY_STRING) event.a = strtoull(last->str, NULL, 10);
    if (known) event.b = (uint64_t)count->integer;
    if (known) (void)history_event(look->who, event);
    if (last != NULL) freeReplyObject(last);
    if (count != NULL) freeReplyObject(count);
}

/* Which of the files that were sent are still there. */
static void audit(storm_look* look)
{
    uint32_t at = 0, count = history_count();
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL && at <= count;)
    {
        static gh_file_look file;
        char name[16];
        if (r->what != FILES_SEND || r->outcome != STORM_DONE) continue;
        (void)snprintf(name, sizeof name, "%u", files_begun_by(at));
        uint32_t op = history_begin(look->who, STORM_files, FILES_LOOK, 0);
        gh_status status = gh_file_look_begin(&file, look->client, gh_str_of(name), NULL);
        while ((status = gh_op_poll(&file.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
        history_at(op)->about = at;
        history_at(op)->a = status == GH_OK ? 1 : 0;
        history_at(op)->b = file.readers_left;
        history_end(op, status == GH_GONE ? STORM_DONE : storm_outcome_of(status), status);
    }
}

const storm_system storm_files = {.name = "files",
                                  .whats = whats,
                                  .actor_size = sizeof(file_actor),
                                  .start = start,
                                  .turn = turn,
                                  .idle = idle,
                                  .witness = witness,
                                  .audit = audit,
                                  .check = check_files};
