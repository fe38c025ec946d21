/* ops.c -- places for ops, and what is drawn for all of them. */

#include "ops.h"

#include <stdio.h>

static const struct
{
    const ops_kind* kinds;
} systems[] = {{ops_lease}, {ops_talk}, {ops_social}, {ops_tasks}, {ops_rows}, {ops_files}, {ops_commands}};

const ops_kind* ops_kind_at(uint32_t i)
{
    for (size_t system = 0; system < FUZZ_COUNT(systems); system++)
        for (const ops_kind* kind = systems[system].kinds; kind->name != NULL; kind++)
            if (i-- == 0) return kind;
    return NULL;
}

uint32_t ops_kind_count(void)
{
    static uint32_t count;
    if (count == 0)
        while (ops_kind_at(count) != NULL) count++;
    return count;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void* ops_lend(ops_place* place, size_t size)
{
    FUZZ_MUST(place->lent_count < OPS_LENT_MAX);
    return place->lent[place->lent_count++] = fuzz_block(size);
}

void* ops_lend_op(ops_place* place, size_t size)
{
    place->op = ops_lend(place, size);
    place->op->tag = place->tag;
    place->op->user = place;
    return place->op;
}

static gh_str keep_passing(ops_place* place, gh_str text)
{
    FUZZ_MUST(place->passing_count < FUZZ_COUNT(place->passing));
    char* copy = fuzz_exact(text.bytes, text.size);
    place->passing[place->passing_count++] = copy;
    return gh_str_make(copy, text.size);
}

static void drop(void* bytes)
{
    fuzz_unpoison(bytes, 1);
    free(bytes);
}

static void drop_all(void** all, size_t* count)
{
    while (*count > 0) drop(all[--*count]);
}

/* ---- what is drawn ----------------------------------------------------------------------------------------------- */

#define DRAWN_MAX 128u

static gh_str drawn[DRAWN_MAX];
static char drawn_bytes[DRAWN_MAX][GH_NAME_SIZE_MAX];
static size_t drawn_count;

static gh_str note_drawn(gh_str name)
{
    if (drawn_count == DRAWN_MAX || name.size > GH_NAME_SIZE_MAX) return name;
    if (name.size > 0) memcpy(drawn_bytes[drawn_count], name.bytes, name.size);
    drawn[drawn_count] = gh_str_make(drawn_bytes[drawn_count], name.size);
    drawn_count++;
    return name;
}

bool ops_has_drawn(gh_str name)
{
    for (size_t i = 0; i < drawn_count; i++)
        if (gh_str_equal(drawn[i], name)) return true;
    return drawn_count == DRAWN_MAX;
}

void ops_forget(void)
{
    drawn_count = 0;
    ops_forget_dice();
}

static gh_str draw_name(fuzz_input* input)
{
    static const gh_str names[] = {GH_STR_INIT("a"),       GH_STR_INIT("b"),  GH_STR_INIT("mia"), GH_STR_INIT("Jeff"),
                                   GH_STR_INIT("{:} %\n"), GH_STR_INIT("\0"), GH_STR_INIT("c"),   GH_STR_INIT("d")};
    const uint8_t which = fuzz_byte(input);
    if (which < 240) return names[which % FUZZ_COUNT(names)];
    if (which == 240) return gh_str_make(NULL, 0);
    return fuzz_text(input, 80);
}

gh_str ops_name(ops_place* place, fuzz_input* input)
{
    return keep_passing(place, note_drawn(draw_name(input)));
}

static gh_str lend_text(ops_place* place, gh_str text)
{
    char* copy = fuzz_exact(text.bytes, text.size);
    FUZZ_MUST(place->lent_count < OPS_LENT_MAX);
    place->lent[place->lent_count++] = copy;
    return gh_str_make(copy, text.size);
}

gh_str ops_lent_name(ops_place* place, fuzz_input* input)
{
    return lend_text(place, note_drawn(draw_name(input)));
}

gh_str ops_lent_text(ops_place* place, fuzz_input* input, size_t size_max)
{
    return lend_text(place, fuzz_text(input, size_max));
}

size_t ops_count(fuzz_input* input, size_t most)
{
    const uint8_t which = fuzz_byte(input);
    if (which < 250) return 1 + which % most;
    return which == 250 ? 0 : which == 251 ? most + 1 : which == 252 ? most : SIZE_MAX / 2;
}

void* ops_room(ops_place* place, fuzz_input* input, size_t enough, size_t* size)
{
    const uint8_t which = fuzz_byte(input);
    *size = which < 192 ? enough : which < 224 ? enough / 2 : fuzz_number(input, 2) % (enough + 1);
    return ops_lend(place, *size);
}

uint64_t ops_vary(fuzz_input* input, uint64_t value)
{
    const uint8_t which = fuzz_byte(input);
    if (which < 208) return value;
    if (which < 216) return value + 1;
    if (which < 224) return value - 1;
    return fuzz_edge(input);
}

uint64_t ops_time(fuzz_input* input, uint64_t usual_us)
{
    const uint8_t which = fuzz_byte(input);
    if (which < 128) return usual_us;
    return which < 240 ? (uint64_t)(which - 127) * 10000 : fuzz_edge(input);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

gh_status ops_begin(ops_place* place, const ops_kind* kind, gh_client* client, fuzz_input* input)
{
    FUZZ_MUST(place->kind == NULL);
    place->kind = kind;
    place->op = NULL;
    place->more = NULL;
    place->ended = place->seen = GH_PENDING;
    const gh_status status = kind->begin(place, client, input);
    drop_all(place->passing, &place->passing_count);
    if (place->op == NULL) return status;
    if (status == GH_OK) FUZZ_MUST(gh_op_poll(place->op) != GH_IDLE || !gh_op_is_busy(place->op));
    else
    {
        FUZZ_MUST(!gh_op_is_busy(place->op));
        FUZZ_MUST(gh_op_poll(place->op) == status);
    }
    return status;
}

void ops_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    if (place->kind == NULL) return;
    if (place->kind->use != NULL && fuzz_byte(input) < 224)
    {
        place->kind->use(place, client, input);
        return;
    }
    if (place->op != NULL) gh_op_cancel(place->op);
}

/* A busy op is PENDING or HELD; one that is over stays as it ended. */
void ops_check(ops_place* place)
{
    if (place->kind == NULL || place->op == NULL) return;
    const gh_status status = gh_op_poll(place->op);
    if (status != place->seen) FUZZ_MUST(strcmp(gh_status_name(status), gh_status_name((gh_status)12345)) != 0);
    place->seen = status;
    if (gh_op_is_busy(place->op))
    {
        FUZZ_MUST(place->ended == GH_PENDING);
        if (status != GH_PENDING && status != GH_HELD)
            FUZZ_FAIL("%s is busy and %s", place->kind->name, gh_status_name(status));
        return;
    }
    if (status == GH_PENDING || status == GH_HELD || status == GH_IDLE)
        FUZZ_FAIL("%s is over and %s", place->kind->name, gh_status_name(status));
    if (place->ended == GH_PENDING) place->ended = status;
    if (place->ended != status)
        FUZZ_FAIL("%s ended %s, and then %s", place->kind->name, gh_status_name(place->ended), gh_status_name(status));
}

bool ops_empty(ops_place* place)
{
    if (place->kind == NULL) return true;
    if (place->kind->leave != NULL && !place->kind->leave(place)) return false;
    if (place->kind->leave == NULL && place->op != NULL)
    {
        gh_op_detach(place->op);
        FUZZ_MUST(!gh_op_is_busy(place->op) && place->op->tag == 0);
    }
    drop_all(place->lent, &place->lent_count);
    place->kind = NULL;
    place->op = NULL;
    return true;
}
