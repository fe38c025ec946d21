/* ops.h -- an op of every kind, begun with names, configs and arguments that are drawn.

   A place holds one op and all that was lent to it, each in memory of its own of exactly its size. It goes when the
   place is emptied: the op is detached then, if it is busy, and nobody may touch what was lent from there on. What is
   drawn is mostly what a game would say, and now and then what it should not: then the begin refuses it. */

#ifndef GUILDHALL_TESTS_FUZZ_OPS_H
#define GUILDHALL_TESTS_FUZZ_OPS_H

#include "world.h"

#define OPS_LENT_MAX 160

struct ops_kind;

typedef struct ops_place
{
    const struct ops_kind* kind; /* NULL: empty */
    gh_op* op;                   /* NULL: it is no op, as the counters are */
    void* more;                  /* the kind's own */
    uint32_t tag;
    gh_status ended;             /* as it ended; GH_PENDING: it is busy */
    gh_status seen;              /* when it was last looked at */
    void* lent[OPS_LENT_MAX];
    size_t lent_count;
    void* passing[8];            /* names, until begin returns */
    size_t passing_count;
} ops_place;

typedef struct ops_kind
{
    const char* name;
    gh_status (*begin)(ops_place* place, gh_client* client, fuzz_input* input);

    /* Whatever else a caller may do with it, busy or over. NULL: nothing. */
    void (*use)(ops_place* place, gh_client* client, fuzz_input* input);

    /* In place of gh_op_detach. NULL: that. False: its memory is not the caller's yet. */
    bool (*leave)(ops_place* place);
} ops_kind;

extern const ops_kind ops_lease[], ops_talk[], ops_social[], ops_tasks[], ops_rows[], ops_files[], ops_commands[];

/* All of them, one after the other. */
uint32_t ops_kind_count(void);
const ops_kind* ops_kind_at(uint32_t i);

/* Begins one in an empty place. What it answered. */
gh_status ops_begin(ops_place* place, const ops_kind* kind, gh_client* client, fuzz_input* input);

/* Uses it in some way, cancels it, or looks at it. */
void ops_use(ops_place* place, gh_client* client, fuzz_input* input);

/* How it stands must be so that it may stand so. */
void ops_check(ops_place* place);

/* Detached, and its memory gone. False: it cannot go yet; after a shutdown all can. */
bool ops_empty(ops_place* place);

/* True: the name was drawn since the input began, by whichever op. */
bool ops_has_drawn(gh_str name);

/* At the end of an input: of what was drawn from it nothing is kept. */
void ops_forget(void);

/* ---- for the kinds ---- */

void ops_forget_dice(void); /* of ops_tasks.c */

/* Zeroed, until the place is emptied. */
#define OPS_LEND(place, type)              ((type*)ops_lend((place), sizeof(type)))
#define OPS_LEND_ARRAY(place, type, count) ((type*)ops_lend((place), sizeof(type) * (count)))
void* ops_lend(ops_place* place, size_t size);

/* The op itself. */
#define OPS_OP(place, type) ((type*)ops_lend_op((place), sizeof(type)))
void* ops_lend_op(ops_place* place, size_t size);

/* A name: one of a few, or any bytes. It is there until begin returns; the second until the place is emptied. */
gh_str ops_name(ops_place* place, fuzz_input* input);
gh_str ops_lent_name(ops_place* place, fuzz_input* input);
gh_str ops_lent_text(ops_place* place, fuzz_input* input, size_t size_max);

/* 1..most as a rule, and then 0 or more than it. */
size_t ops_count(fuzz_input* input, size_t most);

/* Room of a size around `enough`; *size is set. */
void* ops_room(ops_place* place, fuzz_input* input, size_t enough, size_t* size);

/* The field as it is, or changed. */
uint64_t ops_vary(fuzz_input* input, uint64_t value);
#define OPS_VARY(input, field, type) ((field) = (type)ops_vary((input), (uint64_t)(field)))

/* A wait or a time-out: short as a rule. */
uint64_t ops_time(fuzz_input* input, uint64_t usual_us);

#endif
