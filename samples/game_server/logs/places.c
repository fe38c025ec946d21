/* places.c -- a table of places from a CSV file. A game that swaps tables while it runs would read a piece a
   frame, and hand the sealed table over with gh_geo_offer. */

#include "places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE_SIZE (64 * 1024)
#define IPV4_MAX   (8u << 20)

/* What is left of a row goes in front of the next piece. */
static gh_status read_rows(gh_geo* table, FILE* file, char* piece)
{
    size_t size = 0;
    size_t used = 0;
    gh_status status = GH_OK;
    while (status == GH_OK && !feof(file) && !ferror(file))
    {
        size += fread(piece + size, 1, PIECE_SIZE - 1 - size, file);
        if (feof(file)) piece[size++] = '\n'; /* the last row may lack it */
        status = gh_geo_add_rows(table, gh_str_make(piece, size), &used);
        memmove(piece, piece + used, size - used);
        size -= used;
    }
    return status;
}

static gh_status try_capacity(places* p, const gh_geo_config* config, FILE* file, char* piece)
{
    size_t size = (gh_geo_memory(config) + 63) & ~(size_t)63;
    places_free(p);
    p->memory = aligned_alloc(64, size);
    gh_status status = gh_geo_init(&p->table, config, p->memory, size);
    rewind(file);
    if (status == GH_OK) status = read_rows(p->table, file, piece);
    if (status == GH_OK) status = gh_geo_seal(p->table, 0);
    return status;
}

/* Twice of what was used up. False: that was not it, or no more can be had. */
static bool grow(gh_geo_config* config, gh_status status)
{
    if (config->ipv4_capacity >= IPV4_MAX || config->ipv6_capacity >= IPV4_MAX || config->nodes_capacity >= IPV4_MAX)
        return false;
    if (status == GH_FULL_IPV4) config->ipv4_capacity *= 2;
    if (status == GH_FULL_IPV6) config->ipv6_capacity *= 2;
    if (status == GH_FULL_NODES) config->nodes_capacity *= 2;
    if (status == GH_FULL_TEXT) config->text_bytes *= 2;
    return status == GH_FULL_IPV4 || status == GH_FULL_IPV6 || status == GH_FULL_NODES || status == GH_FULL_TEXT;
}

bool places_read(places* p, const char* path)
{
    *p = (places){0};
    FILE* file = fopen(path, "rb");
    char* piece = malloc(PIECE_SIZE);
    if (file == NULL || piece == NULL)
    {
        fprintf(stderr, "game_server: %s: %s\n", path, strerror(errno));
        if (file != NULL) fclose(file);
        free(piece);
        return false;
    }
    gh_geo_config config = gh_geo_config_default();
    gh_status status = try_capacity(p, &config, file, piece);
    while (grow(&config, status)) status = try_capacity(p, &config, file, piece);
    fclose(file);
    free(piece);
    if (status == GH_OK) return true;
    fprintf(stderr, "game_server: %s: no table of places: %s\n", path, gh_status_text(status));
    places_free(p);
    return false;
}

void places_free(places* p)
{
    free(p->memory);
    *p = (places){0};
}
