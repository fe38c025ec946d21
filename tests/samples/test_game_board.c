/* Tests of samples/game_server/board.h: rows that other processes read while they are written. */

#include "support/process.h"
#include "support/scratch.h"
#include "support/suite.h"
#include "support/wait.h"

#include "board.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef struct board_place
{
    char path[SCRATCH_PATH_SIZE + 16];
} board_place;

static board* board_in_scratch(board_place* place)
{
    char folder[SCRATCH_PATH_SIZE];
    scratch_folder(folder);
    snprintf(place->path, sizeof(place->path), "%s/board", folder);
    board* b = board_create(place->path);
    assert_non_null(b);
    return b;
}

static void a_row_is_seen_by_who_opens_the_file(void** state)
{
    (void)state;
    board_place place;
    board* mine = board_in_scratch(&place);
    board* other = board_open(place.path);
    assert_non_null(other);
    static board_row row, seen;
    assert_true(board_look(other, 3, &seen));
    assert_int_equal(seen.role[0], '\0');
    snprintf(row.role, sizeof(row.role), "worker");
    row.frames = 7;
    board_publish(mine, 3, &row);
    assert_true(board_look(other, 3, &seen));
    assert_memory_equal(&row, &seen, sizeof(row));
    assert_true(board_look(other, 2, &seen));
    assert_int_equal(seen.role[0], '\0');
    board_publish(mine, BOARD_ROWS, &row); /* there is no such row */
    assert_false(board_look(other, BOARD_ROWS, &seen));
    munmap(other, sizeof(board));
    munmap(mine, sizeof(board));
}

static void what_is_no_board_is_not_opened(void** state)
{
    (void)state;
    char folder[SCRATCH_PATH_SIZE];
    char path[SCRATCH_PATH_SIZE + 16];
    scratch_folder(folder);
    snprintf(path, sizeof(path), "%s/short", folder);
    assert_null(board_open(path));
    assert_int_equal(errno, ENOENT);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs("short", file);
    fclose(file);
    assert_null(board_open(path));
    assert_int_equal(errno, EINVAL);
    snprintf(path, sizeof(path), "%s/none/board", folder);
    assert_null(board_create(path));
    assert_int_equal(errno, ENOENT);
}

/* Every field of a row that this child writes is the same number. It goes on until row 2 says that it is enough, and
   gives the processor away between two rows, now and then: or on one that both have to share it would nearly always be
   in the middle of a row when the reader looks. */
static int write_rows(void* context, int results)
{
    (void)results;
    const board_place* place = context;
    board* b = board_open(place->path);
    CHILD_CHECK(b != NULL);
    static board_row row, other;
    for (uint64_t i = 1; other.frames == 0; i++)
    {
        row.frames = i;
        for (int k = 0; k < BOARD_COUNTS; k++) row.counts[k].value = i;
        for (int k = 0; k < BOARD_SYSTEMS; k++) row.ops[k].value = i;
        for (int k = 0; k < BOARD_EVENTS; k++) row.events[k].number = i;
        board_publish(b, 1, &row);
        board_look(b, 2, &other);
        if (i % 1024 == 0) wait_briefly();
    }
    return 0;
}

static void a_reader_never_sees_half_a_row(void** state)
{
    (void)state;
    board_place place;
    board* b = board_in_scratch(&place);
    child_process* child = child_start(write_rows, &place);
    static board_row row;
    uint64_t last = 0;
    uint64_t end_us = wait_cap_us();
    for (int rows = 0, changes = 0, vain = 0; rows < 500000 || changes < 50;)
    {
        if (++vain % 20000 == 0) wait_briefly(); /* the writer has this processor, too */
        if (wait_now_us() >= end_us) fail_msg("saw only %d rows, and %d changes", rows, changes);
        if (!board_look(b, 1, &row)) continue;
        rows++;
        assert_true(row.frames >= last);
        for (int k = 0; k < BOARD_COUNTS; k++) assert_int_equal(row.counts[k].value, row.frames);
        for (int k = 0; k < BOARD_SYSTEMS; k++) assert_int_equal(row.ops[k].value, row.frames);
        for (int k = 0; k < BOARD_EVENTS; k++) assert_int_equal(row.events[k].number, row.frames);
        if (row.frames == last) continue;
        changes++;
        vain = 0;
        last = row.frames;
        end_us = wait_cap_us();
    }
    board_publish(b, 2, &row);
    assert_int_equal(child_wait(child), 0);
    munmap(b, sizeof(board));
}

/* Its owner is killed in the middle: nobody takes the half row, and who comes after it writes a whole one. */
static void a_half_row_is_not_seen_and_is_written_over(void** state)
{
    (void)state;
    board_place place;
    board* b = board_in_scratch(&place);
    static board_row row, seen;
    row.frames = 5;
    board_publish(b, 0, &row);
    atomic_fetch_add(&b->slots[0].count, 1);
    b->slots[0].row.frames = 6;
    assert_false(board_look(b, 0, &seen));
    assert_int_equal(seen.frames, 0);
    row.frames = 7;
    board_publish(b, 0, &row);
    assert_true(board_look(b, 0, &seen));
    assert_int_equal(seen.frames, 7);
    munmap(b, sizeof(board));
}

static void the_newest_events_stay(void** state)
{
    (void)state;
    static board_row row;
    memset(&row, 0, sizeof(row));
    char text[BOARD_TEXT_SIZE + 10];
    for (uint64_t i = 1; i <= BOARD_EVENTS + 3; i++)
    {
        snprintf(text, sizeof(text), "event %d", (int)i);
        board_say(&row, i * 10, GH_LOG_WARNING, gh_str_of(text));
    }
    for (uint64_t i = 4; i <= BOARD_EVENTS + 3; i++)
    {
        const board_event* event = &row.events[i % BOARD_EVENTS];
        snprintf(text, sizeof(text), "event %d", (int)i);
        assert_int_equal(event->number, i);
        assert_int_equal(event->at_us, i * 10);
        assert_int_equal(event->level, GH_LOG_WARNING);
        assert_string_equal(event->text, text);
    }
    memset(text, 'x', sizeof(text));
    board_say(&row, 0, GH_LOG_ERROR, gh_str_make(text, sizeof(text)));
    const board_event* last = &row.events[(BOARD_EVENTS + 4) % BOARD_EVENTS];
    assert_int_equal(strlen(last->text), BOARD_TEXT_SIZE - 1);
    board_say(&row, 0, GH_LOG_ERROR, gh_str_of(NULL));
    assert_string_equal(row.events[(BOARD_EVENTS + 5) % BOARD_EVENTS].text, "");
}

static void counts_and_checks_are_found_by_name(void** state)
{
    (void)state;
    static board_row row;
    memset(&row, 0, sizeof(row));
    *board_count_of(&row, "chat.sent") += 2;
    *board_count_of(&row, "chat.read") += 1;
    *board_count_of(&row, "chat.sent") += 3;
    assert_int_equal(*board_count_of(&row, "chat.sent"), 5);
    assert_int_equal(*board_count_of(&row, "chat.read"), 1);
    const char* long_name = "a name that is longer than the place for it has room";
    *board_count_of(&row, long_name) += 1;
    assert_int_equal(*board_count_of(&row, long_name), 1);
    assert_int_equal(strlen(row.counts[2].name), sizeof(row.counts[2].name) - 1);
    char name[24];
    for (int i = 3; i < BOARD_COUNTS; i++)
    {
        snprintf(name, sizeof(name), "count %d", i);
        assert_non_null(board_count_of(&row, name));
    }
    assert_null(board_count_of(&row, "one too many"));
    board_check_that(&row, "chat: no gap", true);
    board_check_that(&row, "chat: no gap", true);
    board_check_that(&row, "chat: no gap", false);
    assert_string_equal(row.checks[0].name, "chat: no gap");
    assert_int_equal(row.checks[0].passed, 2);
    assert_int_equal(row.checks[0].failed, 1);
}

TEST_FILE(game_board, cmocka_unit_test(a_row_is_seen_by_who_opens_the_file),
          cmocka_unit_test(what_is_no_board_is_not_opened), cmocka_unit_test(a_reader_never_sees_half_a_row),
          cmocka_unit_test(a_half_row_is_not_seen_and_is_written_over), cmocka_unit_test(the_newest_events_stay),
          cmocka_unit_test(counts_and_checks_are_found_by_name));
