/* store_script.c -- a script's text as it stands, comments and all. */

#include "support/server/store_script.h"

#include "support/source_tree.h"
#include "support/suite.h"

#include <stdio.h>

const char* store_script(redis_server* server, const char* name)
{
    static char digests[16][41];
    static unsigned next;
    static char text[64 * 1024];
    char* digest = digests[next++ % 16];
    char relative[128];
    char path[SOURCE_TREE_PATH_SIZE];
    snprintf(relative, sizeof(relative), "sdk/src/%s.lua", name);
    assert_true(source_tree_path(path, relative));
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof(text), file);
    fclose(file);
    assert_in_range(size, 1, sizeof(text) - 1);
    snprintf(digest, sizeof(digests[0]), "%s", redis_server_text(server, "SCRIPT LOAD %b", text, size));
    return digest;
}
