/* tls_games.h -- games that speak TLS with a fleet which speaks nothing else (cluster_options.tls,
   sentinels_options.tls).

       tls_games* all = tls_games_new(&config);
       game* a = tls_games_start(all);                       // and another through the same gh_tls, if wanted
       GAME_UNTIL(tls_games_said(all, "for another name")); */

#ifndef GUILDHALL_TESTS_TLS_GAMES_H
#define GUILDHALL_TESTS_TLS_GAMES_H

#include "support/scene/game.h"
#include "tls/tls_scene.h"

typedef struct tls_games
{
    gh_client_config config;
    gh_tls* tls;
    void* block;
    char log[64 * 1024]; /* all lines of all of them, as long as there is room */
    size_t log_size;
} tls_games;

/* A gh_tls with the authority of papers.h and room for so many connections, which verifies what addresses say. It is
   ended behind the games. The config is that of each. */
tls_games* tls_games_new(const gh_client_config* config, uint32_t streams);
game* tls_games_start(tls_games* self);

gh_tls_stats tls_games_stats(const tls_games* self);
bool tls_games_said(const tls_games* self, const char* words);

#endif
