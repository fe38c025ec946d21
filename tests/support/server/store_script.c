/* store_script.c -- a script's text as it stands, comments and all, with its parts in their places. */

#include "support/server/store_script.h"

#include "support/source_tree.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum
{
    TEXT_MAX = 64 * 1024
};

/* Adds the text of a file of sdk/src, in which a line "--@ client/mark.lua" stands for that file's. */
static size_t add_file(char text[TEXT_MAX], size_t size, const char* name)
{
    char relative[128];
    char path[SOURCE_TREE_PATH_SIZE];
    char line[256];
    char part[100];
    snprintf(relative, sizeof(relative), "sdk/src/%s", name);
    assert_true(source_tree_path(path, relative));
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
    {
        if (sscanf(line, " --@ %99s", part) == 1)
        {
            size = add_file(text, size, part);
            continue;
        }
        assert_in_range(size + strlen(line), 1, TEXT_MAX - 1);
        memcpy(text + size, line, strlen(line));
        size += strlen(line);
    }
    fclose(file);
    return size;
}

const char* store_script(redis_server* server, const char* name)
{
    static char digests[16][41];
    static unsigned next;
    static char text[TEXT_MAX];
    char* digest = digests[next++ % 16];
    char file[100];
    snprintf(file, sizeof(file), "%s.lua", name);
    size_t size = add_file(text, 0, file);
    snprintf(digest, sizeof(digests[0]), "%s", redis_server_text(server, "SCRIPT LOAD %b", text, size));
    return digest;
}

const char* store_rest(const redisReply* reply, unsigned column)
{
    if (reply->type != REDIS_REPLY_STRING) fail_msg("a reply of type %d: %s", reply->type, reply->str);
    const char* at = reply->str;
    for (; column > 0; column--)
    {
        const char* blank = strchr(at, ' ');
        if (blank == NULL) fail_msg("there is no such column in \"%s\"", reply->str);
        else at = blank + 1;
    }
    return at;
}

long long store_code(redisReply* reply, unsigned sequence)
{
    long long numbers[2];
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    assert_int_equal(redis_server_numbers(reply, numbers, 2), 2);
    assert_int_equal(numbers[0], sequence);
    freeReplyObject(reply);
    return numbers[1];
}
