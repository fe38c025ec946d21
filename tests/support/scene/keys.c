/* keys.c -- SCAN over a whole store, each key matched with a row of the page. */

#include "support/scene/keys.h"

#include "support/scene/page.h"
#include "support/suite.h"

#include <string.h>

#define PAGE "sdk/KEYS.md"

enum
{
    CELL_KEY = 0,
    CELL_TYPE = 1,
    CELL_TIME_TO_LIVE = 3
};

/* "gh:{lock:<name>}:s": what stands in <> is anything but a brace or a colon. */
static bool fits(const char* pattern, const char* key)
{
    while (*pattern != 0)
    {
        if (*pattern == '<')
        {
            size_t size = strcspn(key, "{}:");
            if (size == 0) return false;
            pattern = strchr(pattern, '>') + 1;
            key += size;
        }
        else if (*pattern++ != *key++) return false;
    }
    return *key == 0;
}

static size_t row_of(const page_table* table, const char* key)
{
    size_t found = table->count;
    for (size_t i = 0; i < table->count; i++)
    {
        if (!fits(table->rows[i].cells[CELL_KEY], key)) continue;
        if (found < table->count) fail_msg("%s fits two rows of %s", key, PAGE);
        found = i;
    }
    if (found == table->count) fail_msg("%s is not in the table of %s", key, PAGE);
    return found;
}

static void check_key(redis_server* server, const page_row* row, const char* key)
{
    const char* type = redis_server_text(server, "TYPE %s", key);
    if (strcmp(type, row->cells[CELL_TYPE]) != 0)
        fail_msg("%s is a %s, in %s a %s", key, type, PAGE, row->cells[CELL_TYPE]);
    long long left = redis_server_integer(server, "TTL %s", key);
    /* "none", or "none; ..." where it depends, or how long. */
    const char* told = row->cells[CELL_TIME_TO_LIVE];
    if (left == -1 ? strncmp(told, "none", 4) != 0 : strcmp(told, "none") == 0)
        fail_msg("%s has a TTL of %lld, in %s \"%s\"", key, left, PAGE, told);
}

void keys_must_be_on_the_page(redis_server* server, const char* rows_that_begin)
{
    enum
    {
        ROWS_MAX = 256
    };
    bool seen[ROWS_MAX] = {false};
    page_table table = page_read_table(PAGE, "| key | type |");
    redisReply* keys = redis_server_command(server, "KEYS *");
    assert_true(table.count <= ROWS_MAX);
    for (size_t i = 0; i < keys->elements; i++)
    {
        size_t row = row_of(&table, keys->element[i]->str);
        check_key(server, &table.rows[row], keys->element[i]->str);
        seen[row] = true;
    }
    freeReplyObject(keys);
    for (size_t i = 0; i < table.count; i++)
    {
        const char* key = table.rows[i].cells[CELL_KEY];
        bool wanted = strncmp(key, rows_that_begin, strlen(rows_that_begin)) == 0;
        if (wanted && !seen[i]) fail_msg("%s: nothing in the store looks like %s", PAGE, key);
    }
    page_free_table(&table);
}
