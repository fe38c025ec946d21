/* page.c -- a page of Markdown cut into its sections, fences and rows. */

#include "support/scene/page.h"

#include "support/source_tree.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MARK "#> "

char* page_read_file(const char* path)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot read %s", path);
    size_t size = 0;
    size_t capacity = 4096;
    char* text = malloc(capacity);
    for (;;)
    {
        assert_non_null(text);
        size += fread(text + size, 1, capacity - size - 1, file);
        if (size < capacity - 1) break;
        capacity *= 2;
        text = realloc(text, capacity);
    }
    fclose(file);
    text[size] = 0;
    return text;
}

char* page_copy(const char* text)
{
    size_t size = strlen(text) + 1;
    char* copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, text, size);
    return copy;
}

static char* read_page(const char* relative)
{
    char path[SOURCE_TREE_PATH_SIZE];
    if (!source_tree_path(path, relative)) fail_msg("there is no %s", relative);
    return page_read_file(path);
}

/* Appends a line to a text that was made by malloc; NULL is an empty one. */
static char* append(char* text, const char* line)
{
    size_t size = text == NULL ? 0 : strlen(text);
    text = realloc(text, size + strlen(line) + 2);
    assert_non_null(text);
    sprintf(text + size, "%s\n", line);
    return text;
}

static page_example* new_example(page_examples* examples)
{
    examples->list = realloc(examples->list, (examples->count + 1) * sizeof(*examples->list));
    assert_non_null(examples->list);
    page_example* example = &examples->list[examples->count++];
    example->commands = calloc(1, 1);
    example->shown = calloc(1, 1);
    return example;
}

page_examples page_read_examples(const char* path, const char* language)
{
    page_examples examples = {NULL, 0};
    page_example* example = NULL; /* the one that is being read; NULL outside of a block */
    char* page = read_page(path);
    bool inside = false;
    for (char* line = page; line != NULL && *line != 0;)
    {
        char* next = strchr(line, '\n');
        if (next != NULL) *next++ = 0;
        bool fence = strncmp(line, "```", 3) == 0;
        bool output = strncmp(line, OUTPUT_MARK, strlen(OUTPUT_MARK)) == 0;
        if (fence)
        {
            inside = !inside && strcmp(line + 3, language) == 0;
            example = NULL;
        }
        else if (inside && output)
        {
            assert_non_null(example); /* output of nothing */
            example->shown = append(example->shown, line + strlen(OUTPUT_MARK));
        }
        else if (inside)
        {
            if (example == NULL || example->shown[0] != 0) example = new_example(&examples);
            example->commands = append(example->commands, line);
        }
        line = next;
    }
    free(page);
    return examples;
}

void page_free_examples(page_examples* examples)
{
    for (size_t i = 0; i < examples->count; i++)
    {
        free(examples->list[i].commands);
        free(examples->list[i].shown);
    }
    free(examples->list);
}

/* Cuts the line at its bars. */
static void read_row(page_row* row, char* line)
{
    size_t cells = 0;
    memset(row, 0, sizeof(*row));
    for (char* bar = line; bar != NULL && bar[1] != 0;)
    {
        char* cell = bar + 1 + strspn(bar + 1, " `");
        bar = strchr(bar + 1, '|');
        if (bar == NULL) return;
        *bar = 0;
        size_t size = strlen(cell);
        while (size > 0 && strchr(" `", cell[size - 1]) != NULL) cell[--size] = 0;
        assert_true(cells < PAGE_CELLS_MAX - 1);
        row->cells[cells++] = cell;
        *bar = 0;
    }
}

page_table page_read_table(const char* path, const char* first_line)
{
    page_table table = {read_page(path), NULL, 0};
    char* line = strstr(table.text, first_line);
    if (line == NULL) fail_msg("%s has no table that begins \"%s\"", path, first_line);
    line = strchr(strchr(line, '\n') + 1, '\n') + 1; /* behind the line of dashes */
    while (*line == '|')
    {
        char* next = strchr(line, '\n');
        assert_non_null(next);
        *next = 0;
        table.rows = realloc(table.rows, (table.count + 1) * sizeof(*table.rows));
        assert_non_null(table.rows);
        read_row(&table.rows[table.count++], line);
        line = next + 1;
    }
    return table;
}

void page_free_table(page_table* table)
{
    free(table->rows);
    free(table->text);
}
