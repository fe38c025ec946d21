/* source_tree.c -- upwards from the binary to the folder that has premake5.lua. */

#include "support/source_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool look(char path[SOURCE_TREE_PATH_SIZE], const char* top, const char* relative)
{
    int size = snprintf(path, SOURCE_TREE_PATH_SIZE, "%s/%s", top, relative);
    return size < SOURCE_TREE_PATH_SIZE && access(path, F_OK) == 0;
}

static bool look_upwards(char path[SOURCE_TREE_PATH_SIZE], char* from, const char* relative)
{
    for (;;)
    {
        if (look(path, from, "tests/support/source_tree.c")) return look(path, from, relative);
        char* slash = strrchr(from, '/');
        if (slash == NULL || slash == from) return false;
        *slash = '\0';
    }
}

bool source_tree_path(char path[SOURCE_TREE_PATH_SIZE], const char* relative)
{
    char from[SOURCE_TREE_PATH_SIZE - 64];
    const char* given = getenv("GUILDHALL_SOURCE");
    if (given != NULL) return look(path, given, relative);
    ssize_t size = readlink("/proc/self/exe", from, sizeof(from) - 1);
    if (size > 0)
    {
        from[size] = '\0';
        if (look_upwards(path, from, relative)) return true;
    }
    return getcwd(from, sizeof(from)) != NULL && look_upwards(path, from, relative);
}
