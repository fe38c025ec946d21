/* doors.c -- a short list of addresses, and where TLS is spoken for each. */

#include "support/server/doors.h"

#include "support/suite.h"

#include <stdio.h>
#include <string.h>

#define DOORS_MAX 512 /* at once: three a server, one a proxy */

typedef struct door_entry
{
    char address[DOOR_SIZE];
    char door[DOOR_SIZE];
} door_entry;

static door_entry doors[DOORS_MAX];
static size_t door_count;

static size_t find_entry(const char* address)
{
    size_t i = 0;
    while (i < door_count && strcmp(doors[i].address, address) != 0) i++;
    return i;
}

void doors_add(const char* address, const char* door)
{
    size_t at = find_entry(address);
    if (at == DOORS_MAX) fail_msg("%s", "more doors than there is room for");
    if (at == door_count) door_count++;
    snprintf(doors[at].address, DOOR_SIZE, "%s", address);
    snprintf(doors[at].door, DOOR_SIZE, "%s", door);
}

void doors_remove(const char* address)
{
    size_t at = find_entry(address);
    if (at < door_count) doors[at] = doors[--door_count];
}

bool doors_find(const char* address, char door[DOOR_SIZE])
{
    size_t at = find_entry(address);
    if (at == door_count) return false;
    snprintf(door, DOOR_SIZE, "%s", doors[at].door);
    return true;
}
