/* planted.c -- reads a planted fault line by line, and looks its texts up in the tree. */

#include "support/faults/planted.h"

#include "support/scene/page.h"
#include "support/scene/secure.h"
#include "support/source_tree.h"
#include "support/suite.h"
#include "support/faults/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct planted_file
{
    const char* name;
    char* rest;     /* the lines that are not yet read */
    unsigned parts; /* texts that were seen            */
} planted_file;

/* The next line without its end; NULL behind the last. */
static char* next_line(planted_file* self)
{
    char* line = self->rest;
    if (*line == '\0') return NULL;
    char* end = strchr(line, '\n');
    if (end == NULL) fail_msg("%s does not end with a line feed", self->name);
    *end = '\0';
    self->rest = end + 1;
    return line;
}

/* What stands behind the word that the next line must begin with. */
static char* line_of(planted_file* self, const char* word)
{
    char* line = next_line(self);
    size_t size = strlen(word);
    if (line == NULL || strncmp(line, word, size) != 0 || line[size] == '\0')
        fail_msg("%s: a line \"%s...\" is missing, there is \"%s\"", self->name, word, line == NULL ? "" : line);
    return line + size;
}

static void check_title(planted_file* self)
{
    char* end = NULL;
    unsigned long number = strtoul(line_of(self, "fault "), &end, 10);
    if (strncmp(end, ": ", 2) != 0) fail_msg("%s: its first line is not \"fault N: what happens\"", self->name);
    if (!isdigit((unsigned char)self->name[0]) || self->name[2] != '_' || strtoul(self->name, NULL, 10) != number)
        fail_msg("%s: it is fault %lu, and the name of the file says another one", self->name, number);
}

/* Tests of TLS are not built without it. */
static bool is_there(const char* name)
{
    return table_is_test(name) || (strncmp(name, "tls", 3) == 0 && !secure_is_there());
}

/* The line need not be there: options of a program that has to notice. */
static bool skip_options(planted_file* self, const char* program)
{
    if (strncmp(self->rest, program, strlen(program)) != 0) return false;
    if (*line_of(self, program) == '\0') fail_msg("%s: behind \"%s\" there are no options", self->name, program);
    return true;
}

static void check_tests(planted_file* self)
{
    unsigned count = 0;
    for (char* name = strtok(line_of(self, "test "), " "); name != NULL; name = strtok(NULL, " "), count++)
        if (!is_there(name)) fail_msg("%s: there is no test %s", self->name, name);
    if (count == 0) fail_msg("%s names no test", self->name);
}

/* Somebody has to notice. */
static void check_who_notices(planted_file* self)
{
    bool is_tested = strncmp(self->rest, "test ", 5) == 0;
    if (is_tested) check_tests(self);
    (void)skip_options(self, "storm ");
    bool is_simulated = skip_options(self, "simulate ");
    if (!is_tested && !is_simulated) fail_msg("%s names neither a test nor the simulator", self->name);
}

/* The lines up to that mark, without the line feed of the last. */
static char* text_up_to(planted_file* self, const char* mark)
{
    char* text = self->rest;
    for (char* line = self->rest; *line != '\0';)
    {
        size_t size = strcspn(line, "\n");
        if (size == strlen(mark) && strncmp(line, mark, size) == 0)
        {
            if (line > text) line[-1] = '\0';
            else *line = '\0';
            self->rest = line + size + (line[size] == '\n');
            return text;
        }
        line += size + (line[size] == '\n');
    }
    fail_msg("%s: a line \"%s\" is missing", self->name, mark);
    return NULL;
}

static void check_part(planted_file* self)
{
    char path[SOURCE_TREE_PATH_SIZE];
    const char* relative = line_of(self, "file ");
    if (!source_tree_path(path, relative)) fail_msg("%s: there is no %s", self->name, relative);
    const char* mark = next_line(self);
    if (mark == NULL || strcmp(mark, "--- good") != 0) fail_msg("%s: a line \"--- good\" is missing", self->name);
    const char* good = text_up_to(self, "--- planted");
    const char* planted = text_up_to(self, "--- end");
    char* text = page_read_file(path);
    const char* found = *good == '\0' ? NULL : strstr(text, good);
    bool once = found != NULL && strstr(found + strlen(good), good) == NULL;
    free(text);
    if (!once) fail_msg("%s: its text is not in %s exactly once:\n%s", self->name, relative, good);
    if (strcmp(good, planted) == 0) fail_msg("%s: it changes nothing", self->name);
    self->parts++;
}

void planted_must_apply(const char* name)
{
    char relative[256];
    char path[SOURCE_TREE_PATH_SIZE];
    snprintf(relative, sizeof(relative), "tests/planted/%s", name);
    assert_true(source_tree_path(path, relative));
    char* text = page_read_file(path);
    planted_file self = {name, text, 0};
    check_title(&self);
    check_who_notices(&self);
    while (*self.rest != '\0') check_part(&self);
    assert_true(self.parts > 0);
    free(text);
}
