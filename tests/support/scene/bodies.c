/* bodies.c -- bodies of any size: byte i of one of n bytes is n + 7 * i, so zero bytes are among them. */

#include "support/scene/bodies.h"

#include "support/random.h"

#include <stdio.h>
#include <string.h>

game* bodies_game_with(const char* address, uint32_t out_bytes, uint32_t reply_bytes)
{
    gh_client_config config = game_config(address);
    config.out_bytes = out_bytes;
    config.reply_bytes = reply_bytes;
    game* made = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(made->client));
    return made;
}

game* bodies_game(const char* address)
{
    return bodies_game_with(address, 256 * 1024, 256 * 1024);
}

void bodies_draw_sizes(size_t* sizes, size_t count)
{
    static const size_t around[] = {40, 900, 4000, 9000, 14000, 20000, 30000, 50000};
    random_stream dice = random_for_test("sizes");
    for (size_t i = 0; i < count; i++)
    {
        sizes[i] = random_below(&dice, around[random_below(&dice, 8)]);
        if (random_one_in(&dice, 10)) sizes[i] = GH_MESSAGE_SIZE_MAX - random_below(&dice, 3);
    }
}

gh_post* bodies_posts(game* owner, const size_t* sizes, size_t count)
{
    gh_post* posts = GAME_NEW_ARRAY(owner, gh_post, count);
    for (size_t i = 0; i < count; i++)
    {
        char* bytes = GAME_NEW_ARRAY(owner, char, sizes[i] + 1);
        for (size_t k = 0; k < sizes[i]; k++) bytes[k] = (char)(sizes[i] + 7 * k);
        posts[i].sender = gh_str_literal(BODIES_SENDER);
        posts[i].body = gh_str_make(bytes, sizes[i]);
    }
    return posts;
}

bool bodies_is_whole(const gh_message* message, size_t size)
{
    if (message->status != GH_OK || message->body.size != size || message->body_size != size) return false;
    for (size_t k = 0; k < size; k++)
        if (message->body.bytes[k] != (char)(size + 7 * k)) return false;
    return gh_str_equal(message->sender, gh_str_literal(BODIES_SENDER));
}

bool bodies_is_head(const gh_message* message, size_t size)
{
    return message->status == GH_TOO_LARGE && message->body.size == 0 && message->body_size == size &&
           message->time_us > UINT64_C(1500000000000000) &&
           gh_str_equal(message->sender, gh_str_literal(BODIES_SENDER));
}

size_t bodies_entry(uint64_t id, size_t size)
{
    char text[32];
    return (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)id) + strlen(" 1795250000123 4 ") +
           strlen(BODIES_SENDER) + size;
}
