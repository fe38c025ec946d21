/* store_inside.h -- what the files of a store share: its values, its links, the command that it carries out, and how
   a command answers. */

#ifndef GUILDHALL_EMBEDDED_STORE_INSIDE_H
#define GUILDHALL_EMBEDDED_STORE_INSIDE_H

#include "store.h"
#include "store_buffer.h"
#include "store_dict.h"
#include "store_memory.h"
#include "store_users.h"

#include <lauxlib.h>
#include <lua.h>

enum
{
    STORE_DATABASES = 16,
    STORE_SMALL_COUNT = 128, /* so many fields or members at most, each of at most so many bytes, and a server keeps */
    STORE_SMALL_SIZE = 64,   /* them in a row; more or longer ones, and it keeps a table: another order, other zeros */
    STORE_DEPTH_MAX = 4,     /* of a command's reply                                                                */
    STORE_ERROR_SIZE = 320,
    STORE_ID_SIZE = 41,
    STORE_COMMAND_SLOTS = 512,
    STORE_RECENT = 64,
    STORE_RECENT_SIZE = 16
};

#define STORE_UNREAD_MAX ((size_t)32 << 20) /* client-output-buffer-limit of those who listen */
#define STORE_TEXT_MAX ((size_t)512 << 20) /* proto-max-bulk-len; a blob's size has 32 bits */

/* ---- values -------------------------------------------------------------------------------------------- */

typedef enum store_type
{
    STORE_STRING = 0,
    STORE_HASH,
    STORE_LIST,
    STORE_ZSET,
    STORE_SET
} store_type;

typedef struct store_value
{
    store_type type;
    bool is_large;      /* was once larger than STORE_SMALL_                  */
    int64_t expires_ms; /* 0: never                                           */
    store_blob* text;   /* of a string                                        */
    store_dict dict;    /* of a hash, a sorted set, a set                     */
    store_row row;      /* a list's blobs; a sorted set's entries, in order   */
} store_value;

/* ---- one server ---------------------------------------------------------------------------------------- */

typedef struct store_command store_command;

struct gh_store_link
{
    gh_store* store;
    gh_store_link* next; /* in the store */
    gh_store_link* previous;
    uint64_t id;
    void* data; /* the owner's */
    store_buffer in;
    store_buffer out;
    store_user* user; /* NULL: not known yet */
    store_blob* name;
    uint32_t database;
    bool is_closed;
    bool is_blocked;
    bool is_asking;
    bool reads;
    store_dict channels[2]; /* that it listens to: of everybody, and of a shard; and patterns behind them */
    store_dict patterns;
};

typedef struct store_hooks
{
    gh_store_tap tap;
    void* tap_context;
    gh_store_log log;
    void* log_context;
    gh_store_gate gate;
    void* gate_context;
    gh_store_other other;
    void* other_context;
    gh_store_info info;
    void* info_context;
} store_hooks;

/* The reply that a command is about to give: into a link's bytes or onto Lua's stack. */
typedef struct store_answer
{
    lua_State* lua; /* NULL: into bytes */
    store_buffer* bytes;
    uint32_t depth;
    uint32_t at[STORE_DEPTH_MAX]; /* in each array that is not full yet */
    uint32_t left[STORE_DEPTH_MAX];
    bool has_failed;
    char error[STORE_ERROR_SIZE]; /* without its "-" */
} store_answer;

struct gh_store
{
    gh_store_engine* engine;
    store_pool* pool; /* the engine's */
    bool owns_engine;
    gh_store_config config;
    char version[16];
    uint32_t version_number; /* 70015 */
    char password[64];
    char run_id[STORE_ID_SIZE];
    char history[STORE_ID_SIZE];

    uint64_t now_us;
    int64_t now_ms;
    int64_t swept_ms;
    uint32_t sweep_at[STORE_DATABASES]; /* each goes on where it was: a small one would begin a large one anew */
    uint64_t random;
    uint64_t lua_random; /* of math.random */
    unsigned states;

    store_dict databases[STORE_DATABASES];
    store_dict scripts;     /* by digest: those that it knows; the engine has them */
    store_dict channels[2]; /* to those who listen: a row of links */
    store_dict patterns;
    store_dict users;
    gh_store_link* first_link;
    gh_store_link* last_link;
    uint64_t link_count;
    uint64_t link_ids;
    uint64_t told; /* to links that did not ask */
    bool has_deaf; /* one who listens has more to read than there may be */
    store_hooks hooks;
    gh_store_counts counts;
    store_buffer asked[2]; /* gh_store_ask's: the last reply, and the one before */
    unsigned asked_last;

    /* The command that is being carried out. */
    gh_store_link* link; /* whose it is; NULL: nobody's, or done */
    store_user* user;    /* NULL: nobody, who may do anything */
    const store_command* command;
    const gh_str* words;
    uint32_t count;
    store_dict* keys;  /* of the database */
    uint32_t database; /* its number */
    uint64_t changes;  /* so far, by any command */
    bool is_applied;   /* what another one has logged: nothing is asked, nothing refused */
    bool has_written;  /* the script that runs */
    bool has_logged;   /* in this transaction */
    bool is_rewritten; /* the command has logged itself */
    store_answer* answer;
};

/* ---- how a command answers ----------------------------------------------------------------------------- */

void gh_store_reply_integer(gh_store* store, int64_t value);
void gh_store_reply_text(gh_store* store, gh_str text);
void gh_store_reply_double(gh_store* store, double value);
void gh_store_reply_null(gh_store* store);
void gh_store_reply_null_array(gh_store* store);
void gh_store_reply_array(gh_store* store, size_t count); /* and then its elements */
void gh_store_reply_status(gh_store* store, const char* text);
void gh_store_reply_ok(gh_store* store);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void gh_store_reply_error(gh_store* store, const char* format, ...);

#define STORE_WRONG_TYPE  "WRONGTYPE Operation against a key holding the wrong kind of value"
#define STORE_NOT_INTEGER "ERR value is not an integer or out of range"
#define STORE_NOT_FLOAT   "ERR value is not a valid float"
#define STORE_NOT_RANGE   "ERR min or max is not a float"
#define STORE_SYNTAX      "ERR syntax error"

/* ---- words as what they mean; each says the error itself ----------------------------------------------- */

bool gh_store_is_word(gh_str text, const char* word); /* whatever its case */
bool gh_store_word_integer(gh_store* store, uint32_t at, int64_t* value);
bool gh_store_word_double(gh_store* store, uint32_t at, double* value);

/* ---- keys ---------------------------------------------------------------------------------------------- */

typedef struct store_key
{
    gh_str name;
    uint32_t hash;
    store_value* value; /* NULL: not there */
} store_key;

/* The key that a word names, as it is now: what has ended is gone. */
store_key gh_store_key_at(gh_store* store, uint32_t at);

/* The same of a command about one type, in its first word. False: of another type, which has been said. */
bool gh_store_key_typed(gh_store* store, store_type type, store_key* key);
void gh_store_members_remove(gh_store* store, store_type type); /* the command names them, of a hash or a set */
store_value* gh_store_key_make(gh_store* store, const store_key* key, store_type type);
void gh_store_key_remove(gh_store* store, const store_key* key);
store_value* gh_store_value_new(gh_store* store, store_type type);
void gh_store_value_free(gh_store* store, store_value* value);
store_value* gh_store_value_copy(gh_store* to, const store_value* from);
bool gh_store_has_ended(const gh_store* store, const store_value* value);
const char* gh_store_type_name(const store_value* value);
void gh_store_remove_all(gh_store* store, store_dict* keys);

/* When a hash, set or sorted set is about to take such a name. */
void gh_store_note_size(store_value* value, size_t name_size, size_t value_size);

/* So many changes by this command. */
static inline void gh_store_changed(gh_store* store, uint64_t count)
{
    store->changes += count;
}

uint64_t gh_store_draw(gh_store* store);
void gh_store_draw_id(gh_store* store, char* id); /* 40 digits and a NUL */
void gh_store_sweep(gh_store* store);

/* What a command says in its stead to the log: as a replica is to carry it out. */
void gh_store_log_as(gh_store* store, const gh_str* words, uint32_t count);
void gh_store_log_end(gh_store* store);

/* ---- commands ------------------------------------------------------------------------------------------ */

enum
{
    STORE_WRITES = 1 << 0,
    STORE_GROWS = 1 << 1,       /* is refused when the server is full         */
    STORE_NO_SCRIPT = 1 << 2,   /* not from inside scripts                    */
    STORE_ANY_TIME = 1 << 3,    /* while it loads, without its master as well */
    STORE_NO_USER = 1 << 4,     /* before AUTH                                */
    STORE_WHILE_BUSY = 1 << 5,
    STORE_LISTENS = 1 << 6,     /* also by one who listens to channels        */
    STORE_RUNS = 1 << 7,        /* its keys are counted by its second word    */
    STORE_CHANNEL = 1 << 8,     /* its second word is one                     */
    STORE_CHANNELS = 1 << 9,    /* all of its words are                       */
    STORE_PATTERNS = 1 << 10    /* of channels, all of its words              */
};

struct store_command
{
    const char* name;         /* small letters; of a part of a command "script|load" */
    void (*run)(gh_store* store);
    int32_t words;            /* so many, with the name; -n: at least n */
    unsigned flags;
    uint8_t first_key;        /* 0: none */
    int8_t last_key;          /* from the end, if negative */
    uint8_t key_step;
};

const store_command* gh_store_command_find(gh_store_engine* engine, const gh_str* words, size_t count);
void gh_store_commands_index(gh_store_engine* engine);
uint32_t gh_store_command_number(const store_command* command); /* from 0 */
uint32_t gh_store_command_count(void);
const store_command* gh_store_command_at(uint32_t number);

/* Its words that are keys: the first, how many, and how far they are apart. */
typedef struct store_keys_of
{
    uint32_t first;
    uint32_t count;
    uint32_t step;
} store_keys_of;
store_keys_of gh_store_keys_of(const store_command* command, const gh_str* words, size_t count);

/* What a server asks before it carries a command out, and then the command itself. */
void gh_store_run_request(gh_store* store, const gh_str* words, uint32_t count);
void gh_store_run_nobody(gh_store* store, const gh_str* words, uint32_t count); /* asks for nothing */
void gh_store_run_call(gh_store* store, const gh_str* words, uint32_t count);
void gh_store_carry_out(gh_store* store, const store_command* command);

/* ---- scripts ------------------------------------------------------------------------------------------- */

/* A command, as it was written last. */
typedef struct store_recent
{
    const store_command* command;
    size_t size;
    char name[STORE_RECENT_SIZE];
} store_recent;

struct gh_store_engine
{
    lua_State* lua;
    store_memory memory; /* Lua's */
    store_pool pool;    /* of all stores */
    store_dict scripts; /* by digest: compiled, its value a reference into Lua's registry */
    store_dict texts;   /* of those, each its entry in scripts */
    int on_error;       /* a reference; and so are these */
    int name_of_keys;
    int name_of_arguments;
    store_buffer packed; /* of cmsgpack */
    gh_store* store;    /* whose script runs */
    uint64_t steps_left; /* to it, if they are counted */
    lua_CFunction tonumber;
    lua_CFunction format;
    lua_CFunction match;
    lua_CFunction collect;
    struct store_patterns* patterns; /* of string.match */
    uint32_t word_room;
    uint32_t number_room;
    gh_str* words;      /* of a request, or of redis.call */
    gh_str* spare_words; /* while a request has them, of the calls in it */
    uint32_t spare_room;
    char* numbers;      /* texts of those that are numbers */
    uint8_t command_slots[STORE_COMMAND_SLOTS]; /* a command's number + 1; 0: nothing */
    store_recent recent[STORE_RECENT]; /* by where a name lies: Lua keeps each text but once */
};

void gh_store_script_run(gh_store* store, gh_str digest, int script, uint32_t keys);
void gh_store_lua_open_text(gh_store_engine* engine);
void gh_store_lua_open_match(gh_store_engine* engine);
void gh_store_lua_end_match(gh_store_engine* engine);
void gh_store_lua_open_pack(gh_store_engine* engine);
void gh_store_lua_open_random(gh_store_engine* engine);
void gh_store_lua_answer(lua_State* lua, store_buffer* bytes); /* the top of the stack, as it is replied */
void gh_store_sha1(const void* bytes, size_t size, char digest[STORE_ID_SIZE]);

/* ---- links --------------------------------------------------------------------------------------------- */

uint32_t gh_store_listens_to(const gh_store_link* link); /* how many channels and patterns */
void gh_store_listen_to_nothing(gh_store_link* link);
int64_t gh_store_publish_to(gh_store* store, bool of_shard, gh_str channel, gh_str text);
void gh_store_link_close(gh_store_link* link);

#endif
