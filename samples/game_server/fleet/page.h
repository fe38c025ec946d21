/* page.h -- the board for those who would rather look at a web page: one static page, /board.json, and /history.json
   with the last minutes; on the loopback only. */

#ifndef GAME_SERVER_PAGE_H
#define GAME_SERVER_PAGE_H

#include "history.h"

typedef struct page page;

/* Listens on 127.0.0.1:port. NULL: it was said on stderr why not. The snapshot and the history stay where they are
   until page_close. */
page* page_open(uint32_t port, const snapshot* shown, const history* past);

/* Answers what has arrived, and never waits. */
void page_frame(page* p);

void page_close(page* p);

#endif
