/* rights.c -- the page's ACL SETUSER as one line. */

#include "support/scene/rights.h"

#include "support/scene/page.h"
#include "support/source_tree.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE      "sdk/KEYS.md"
#define HEADER    "sdk/include/guildhall/sentinel.h"
#define LINE_SIZE 2048

/* The words between two marks of a file, with a blank between each two. What does not belong to ACL SETUSER but to the
   shell, or to a comment of several lines, goes. */
static void words_between(char line[LINE_SIZE], const char* file, const char* begin_mark, const char* end_mark)
{
    char path[SOURCE_TREE_PATH_SIZE];
    if (!source_tree_path(path, file)) fail_msg("there is no %s", file);
    char* text = page_read_file(path);
    char* begin = strstr(text, begin_mark);
    char* end = begin == NULL ? NULL : strstr(begin, end_mark);
    if (end == NULL) fail_msg("%s has nothing between %s and %s", file, begin_mark, end_mark);
    *end = '\0';
    size_t size = 0;
    for (char* word = strtok(begin + strlen(begin_mark), " '\\\n"); word != NULL; word = strtok(NULL, " '\\\n"))
    {
        size += (size_t)snprintf(line + size, LINE_SIZE - size, "%s%s", size == 0 ? "" : " ", word);
        if (size >= LINE_SIZE) fail_msg("%s has too many rights", file);
    }
    free(text);
}

const char* rights_of_the_page(void)
{
    static char line[LINE_SIZE];
    if (line[0] == '\0') words_between(line, PAGE, "gh ACL SETUSER ", "\n#>");
    return line;
}

const char* rights_in_a_cluster(void)
{
    static char line[2 * LINE_SIZE];
    char more[LINE_SIZE] = "";
    words_between(more, PAGE, "### On a Cluster", "\n#>");
    const char* rights = strstr(more, "SETUSER game ");
    if (rights == NULL) fail_msg("%s has no user for a Cluster", PAGE);
    snprintf(line, sizeof(line), "%s %s", rights_of_the_page(), rights + strlen("SETUSER game "));
    return line;
}

const char* rights_at_sentinels(void)
{
    static char line[LINE_SIZE];
    if (line[0] == '\0') words_between(line, PAGE, "    ACL SETUSER ", "\n");
    return line;
}

const char* rights_of_the_sentinels_header(void)
{
    static char line[LINE_SIZE];
    if (line[0] == '\0') words_between(line, HEADER, "user, if it has one: ", "\n   Memory");
    return line;
}
