/* bodies.h -- messages whose bodies are of any size, and say by themselves which size they are. */

#ifndef GUILDHALL_TESTS_BODIES_H
#define GUILDHALL_TESTS_BODIES_H

#include "support/scene/game.h"

#define BODIES_SENDER "jeff"

/* A game that has room for any body: out_bytes and reply_bytes are 256 KiB. */
game* bodies_game(const char* address);

/* The same with so many bytes for requests and replies. */
game* bodies_game_with(const char* address, uint32_t out_bytes, uint32_t reply_bytes);

/* Sizes of all kinds, one in ten of them near to the largest; drawn by the test's seed. */
void bodies_draw_sizes(size_t* sizes, size_t count);

/* Posts of the sender, with bodies of these sizes. */
gh_post* bodies_posts(game* owner, const size_t* sizes, size_t count);

/* As posted, with a body of that size: whole; or told without it. */
bool bodies_is_whole(const gh_message* message, size_t size);
bool bodies_is_head(const gh_message* message, size_t size);

/* Bytes of the entry in the store. */
size_t bodies_entry(uint64_t id, size_t size);

#endif
