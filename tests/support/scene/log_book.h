/* log_book.h -- a game whose log is kept, to be searched. */

#ifndef GUILDHALL_TESTS_LOG_BOOK_H
#define GUILDHALL_TESTS_LOG_BOOK_H

#include "support/scene/game.h"

typedef struct log_book
{
    char text[64 * 1024]; /* lines; ends in a NUL */
    size_t size;
    unsigned warnings;
    unsigned errors;
} log_book;

/* The book is emptied; it must live as long as the game. */
game* log_book_start(gh_client_config config, log_book* book);

/* The whole of a client's work in small: it becomes ready, a lock is taken and given back. */
void assert_client_works(game* self);

#endif
