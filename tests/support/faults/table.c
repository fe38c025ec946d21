/* table.c -- looks up the tests that tables name. */

#include "support/faults/table.h"

#include "support/suite.h"

#include <fnmatch.h>
#include <stdio.h>

typedef struct named_file
{
    const char* name;
    const struct CMUnitTest* tests;
    const size_t* count;
} named_file;

#define FILE_ROW(file) {#file, test_##file, &test_##file##_count},
static const named_file files[] = {TEST_FILES(FILE_ROW)};

bool table_is_test(const char* name)
{
    char full[160];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        for (size_t k = 0; k < *files[i].count; k++)
        {
            snprintf(full, sizeof(full), "%s.%s", files[i].name, files[i].tests[k].name);
            if (fnmatch(name, full, 0) == 0) return true;
        }
    return false;
}

void table_check(const table_row* rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
    {
        assert_non_null(rows[i].tests[0]);
        for (size_t k = 0; k < TABLE_NAMES_MAX && rows[i].tests[k] != NULL; k++)
            if (!table_is_test(rows[i].tests[k])) fail_msg("%s: there is no test %s", rows[i].what, rows[i].tests[k]);
    }
}
