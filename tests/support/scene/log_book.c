/* log_book.c -- a log hook that keeps its lines. */

#include "support/scene/log_book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_down(void* context, gh_log_level level, gh_str text)
{
    log_book* book = context;
    if (level == GH_LOG_WARNING) book->warnings++;
    if (level == GH_LOG_ERROR) book->errors++;
    if (book->size + text.size + 2 > sizeof(book->text)) return;
    memcpy(book->text + book->size, text.bytes, text.size);
    book->size += text.size;
    book->text[book->size++] = '\n';
}

static bool trap(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fprintf(stderr, "%s:%d: the library asserts: %s\n", file, line, expression);
    abort();
}

game* log_book_start(gh_client_config config, log_book* book)
{
    memset(book, 0, sizeof(*book));
    config.hooks.context = book;
    config.hooks.log = write_down;
    config.hooks.assertion = trap;
    return game_start_with(&config);
}

void assert_client_works(game* self)
{
    GAME_UNTIL(gh_client_ready(self->client));
    gh_lock* lock = GAME_NEW(self, gh_lock);
    assert_status(gh_lock_begin(lock, self->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_OK);
}
