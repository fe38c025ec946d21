/* page.h -- what stands in a page of Markdown: its examples and its tables, for tests that hold it to its
 * word. */

#ifndef GUILDHALL_TESTS_PAGE_H
#define GUILDHALL_TESTS_PAGE_H

#include <stddef.h>

#define PAGE_CELLS_MAX 8

/* Commands of a block and what the page shows of their output, each line ended by a line feed. In the page,
   lines of output begin with "#> ". Blocks of the language are divided after each piece of output and at
   their ends. */
typedef struct page_example
{
    char* commands;
    char* shown; /* "" if nothing is */
} page_example;

typedef struct page_examples
{
    page_example* list;
    size_t count;
} page_examples;

/* The path is from the top of the sources. */
page_examples page_read_examples(const char* path, const char* language);
void page_free_examples(page_examples* examples);

/* The rows under a table's first line; cells without the spaces and the ` around them. */
typedef struct page_row
{
    const char* cells[PAGE_CELLS_MAX]; /* NULL behind the last */
} page_row;

typedef struct page_table
{
    char* text;
    page_row* rows;
    size_t count;
} page_table;

/* The first table whose first line begins so. */
page_table page_read_table(const char* path, const char* first_line);
void page_free_table(page_table* table);

/* Free it. */
char* page_copy(const char* text);

/* A whole file with a NUL behind it; free it. The full path. */
char* page_read_file(const char* path);

#endif
