/* table.h -- tables that name tests, held against the tests that there are. */

#ifndef GUILDHALL_TESTS_TABLE_H
#define GUILDHALL_TESTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define TABLE_NAMES_MAX 6

typedef struct table_row
{
    const char* what;
    const char* tests[TABLE_NAMES_MAX]; /* "file.test"; NULL behind the last, and at least one */
} table_row;

/* True if the suite has a test of that name, or one that fits it: "file.*". */
bool table_is_test(const char* name);

/* Fails the running test for the first name that is no test. */
void table_check(const table_row* rows, size_t count);

#endif
