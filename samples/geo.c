/* geo.c -- reads a table of address ranges and says where addresses are. No server is needed.

       geo ranges.csv 173.194.38.137 2001:db8::1        rows: first,last,country,region,city */

#include "guildhall/geo.h"

#include <stdio.h>
#include <stdlib.h>

static char piece[64 * 1024];

/* A game would read one piece a frame. What is left of a row goes in front of the next piece. */
static gh_status read_rows(gh_geo* table, FILE* file)
{
    size_t size = 0, used = 0;
    gh_status status = GH_OK;
    while (status == GH_OK && !feof(file))
    {
        size += fread(piece + size, 1, sizeof piece - 1 - size, file);
        if (feof(file)) piece[size++] = '\n'; /* the last row may lack it */
        status = gh_geo_add_rows(table, gh_str_make(piece, size), &used);
        memmove(piece, piece + used, size -= used);
    }
    return status;
}

int main(int argc, char** argv)
{
    gh_geo_config config = gh_geo_config_default();
    config.ipv4_capacity = 4194304, config.ipv6_capacity = 2097152; /* any of the common tables of cities */
    config.nodes_capacity = 524288, config.text_bytes = 8388608;
    size_t size = gh_geo_memory(&config);
    gh_geo* table = NULL;
    FILE* file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL)
    {
        fprintf(stderr, "usage: geo RANGES.csv ADDRESS...\n");
        return 1;
    }
    void* memory = malloc(size); /* once, at start-up */
    gh_status status = gh_geo_init(memory, size, &config, &table);
    if (status == GH_OK) status = read_rows(table, file);
    fclose(file);
    if (status == GH_OK)
        while ((status = gh_geo_seal(table, 100000)) == GH_PENDING) continue; /* a game: some steps a frame */
    for (int i = 2; status == GH_OK && i < argc; i++)
    {
        gh_geo_place place;
        gh_status found = gh_geo_find(table, gh_str_of(argv[i]), &place);
        if (found == GH_OK)
            printf("%s: %.*s, %.*s, %.*s\n", argv[i], (int)place.city.size, place.city.bytes,
                   (int)place.region.size, place.region.bytes, (int)place.country.size, place.country.bytes);
        else
            printf("%s: %s\n", argv[i], gh_status_text(found));
    }
    if (status != GH_OK) fprintf(stderr, "no table: %s\n", gh_status_text(status));
    free(memory);
    return status == GH_OK ? 0 : 1;
}
