/* geo.c -- reads a table of address ranges, as they are to be had, and says where addresses are. No server is needed.

       geo                                              a small table of its own
       geo ranges.csv 1,2,4,5,6 192.0.2.7 2001:db8::1   columns of first, last, country, region, city; 0: has none */

#include "guildhall/geo.h"

#include <stdio.h>
#include <stdlib.h>

/* As the common free tables of cities look, of addresses that are kept for examples. */
static const char* const example[] = {"geo",         "", "1,2,4,5,6", "192.0.2.7", "192.0.2.200", "2001:db8::1",
                                      "198.51.100.1"};
static const char example_rows[] =
    "\"192.0.2.0\",\"192.0.2.127\",\"EU\",\"DE\",\"Land Berlin\",\"Berlin\",\"52.52\",\"13.40\"\n"
    "\"192.0.2.128\",\"192.0.2.255\",\"EU\",\"DE\",\"Bavaria\",\"Roth, Mfr.\",\"49.25\",\"11.09\"\n"
    "\"2001:db8::\",\"2001:db8:ffff::\",\"EU\",\"FR\",\"Brittany\",\"Brest\",\"48.39\",\"-4.49\"\n";

enum
{
    FIELDS_MAX = 32,
    COLUMNS = 5
};

/* The fields of a row, from 1 on, with the quotes around them. What is not there is empty, as is field 0. */
static void split(gh_str row, gh_str fields[FIELDS_MAX])
{
    size_t from = 0;
    bool quoted = false;
    for (int i = 0; i < FIELDS_MAX; i++) fields[i] = gh_str_of("");
    for (size_t at = 0, i = 1; at <= row.size && i < FIELDS_MAX; at++)
    {
        if (at < row.size && row.bytes[at] == '"') quoted = !quoted;
        if (at < row.size && (row.bytes[at] != ',' || quoted)) continue;
        fields[i++] = gh_str_make(row.bytes + from, at - from);
        from = at + 1;
    }
}

/* Just the five columns that gh_geo_add_rows reads; what makes no sense, such as the columns' names, it leaves out. */
static gh_status add_row(gh_geo* table, const unsigned* columns, gh_str row)
{
    static char line[GH_GEO_ROW_SIZE_MAX];
    gh_str fields[FIELDS_MAX];
    size_t size = 0, used;
    split(row, fields);
    for (int i = 0; i < COLUMNS; i++)
    {
        gh_str field = fields[columns[i]];
        if (size + field.size + 1 > sizeof line) return GH_OK; /* no row of addresses */
        memcpy(line + size, field.bytes, field.size), size += field.size;
        line[size++] = i < COLUMNS - 1 ? ',' : '\n';
    }
    return gh_geo_add_rows(table, gh_str_make(line, size), &used);
}

static gh_status read_rows(gh_geo* table, const unsigned* columns, FILE* file)
{
    static char row[2 * GH_GEO_ROW_SIZE_MAX];
    gh_status status = GH_OK;
    while (status == GH_OK && fgets(row, sizeof row, file) != NULL) /* a game: as many a frame as it has time for */
        status = add_row(table, columns, gh_str_make(row, strcspn(row, "\r\n")));
    return status;
}

/* The file that was named, or the table above. */
static FILE* open_table(const char* path)
{
    FILE* file = path != NULL ? fopen(path, "rb") : tmpfile();
    if (path == NULL && file != NULL) fputs(example_rows, file), rewind(file);
    return file;
}

static bool read_columns(const char* text, unsigned columns[COLUMNS])
{
    unsigned* c = columns;
    bool good = sscanf(text, "%u,%u,%u,%u,%u", &c[0], &c[1], &c[2], &c[3], &c[4]) == COLUMNS;
    for (int i = 0; good && i < COLUMNS; i++) good = columns[i] < FIELDS_MAX;
    return good;
}

static void show(const gh_geo* table, const char* address)
{
    gh_geo_place place;
    gh_status found = gh_geo_find(table, gh_str_of(address), &place);
    if (found != GH_OK) printf("%s: %s\n", address, gh_status_text(found));
    else
        printf("%s: %.*s, %.*s, %.*s\n", address, (int)place.city.size, place.city.bytes, (int)place.region.size,
               place.region.bytes, (int)place.country.size, place.country.bytes);
}

int main(int argc, char** argv)
{
    bool given = argc > 1;
    int count = given ? argc : (int)(sizeof example / sizeof example[0]);
    unsigned columns[COLUMNS];
    FILE* file = open_table(given ? argv[1] : NULL);
    if (file == NULL || count < 3 || !read_columns(given ? argv[2] : example[2], columns))
    {
        fprintf(stderr, "usage: geo [RANGES.csv FIRST,LAST,COUNTRY,REGION,CITY ADDRESS...]\n");
        return 1;
    }
    gh_geo_config config = gh_geo_config_default();
    config.ipv4_capacity = 4194304, config.ipv6_capacity = 2097152; /* any of the common tables of cities */
    config.nodes_capacity = 524288, config.text_bytes = 8388608;
    size_t size = gh_geo_memory(&config);
    gh_geo* table = NULL;
    void* memory = malloc(size); /* once, at start-up */
    gh_status status = gh_geo_init(&table, &config, memory, size);
    if (status == GH_OK) status = read_rows(table, columns, file);
    fclose(file);
    if (status == GH_OK)
        while ((status = gh_geo_seal(table, 100000)) == GH_PENDING) continue; /* a game: some steps a frame */
    for (int i = 3; status == GH_OK && i < count; i++) show(table, given ? argv[i] : example[i]);
    if (status != GH_OK) fprintf(stderr, "no table: %s\n", gh_status_text(status));
    free(memory);
    return status == GH_OK ? 0 : 1;
}
