/* rights.c -- the page's ACL SETUSER as one line. */

#include "support/scene/rights.h"

#include "support/scene/page.h"
#include "support/source_tree.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE  "sdk/KEYS.md"
#define BEGIN "gh ACL SETUSER "

const char* rights_of_the_page(void)
{
    static char line[2048];
    char path[SOURCE_TREE_PATH_SIZE];
    if (line[0] != '\0') return line;
    if (!source_tree_path(path, PAGE)) fail_msg("there is no %s", PAGE);
    char* text = page_read_file(path);
    char* begin = strstr(text, BEGIN);
    char* end = begin == NULL ? NULL : strstr(begin, "\n#>");
    if (end == NULL) fail_msg("%s names no user", PAGE);
    *end = '\0';
    size_t size = 0;
    for (char* word = strtok(begin + strlen(BEGIN), " '\\\n"); word != NULL; word = strtok(NULL, " '\\\n"))
    {
        size += (size_t)snprintf(line + size, sizeof(line) - size, "%s%s", size == 0 ? "" : " ", word);
        if (size >= sizeof(line)) fail_msg("%s has too many rights", PAGE);
    }
    free(text);
    return line;
}

const char* rights_in_a_cluster(void)
{
    static char line[2048 + 32];
    snprintf(line, sizeof(line), "%s +cluster|slots +asking", rights_of_the_page());
    return line;
}
