/* event_log.c -- lines into a buffer, the buffer into a file, the file to the sender. */

#include "server/event_log.h"

#include "logs/addresses.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#define ROTATE_US 5000000u
#define FLUSH_US  500000u
#define LINE_SIZE (ADDRESS_SIZE + 24 + EVENT_SIZE)

/* ---- Files --------------------------------------------------------------------------------------------- */

/* Whether it is a log of this server: "<server>-<digits>.log". */
static bool is_ours(const event_log* log, const char* name)
{
    size_t size = strlen(log->server);
    if (strncmp(name, log->server, size) != 0 || name[size] != '-') return false;
    size_t digits = strspn(name + size + 1, "0123456789");
    return digits > 0 && strcmp(name + size + 1 + digits, ".log") == 0;
}

static bool offer_leftovers(event_log* log)
{
    DIR* folder = opendir(log->folder);
    if (folder == NULL) return false;
    for (const struct dirent* entry; (entry = readdir(folder)) != NULL;)
    {
        char path[SENDER_PATH_SIZE];
        if (!is_ours(log, entry->d_name)) continue;
        int size = snprintf(path, sizeof path, "%s/%s", log->folder, entry->d_name);
        if (size > 0 && (size_t)size < sizeof path) sender_offer(log->out, path);
    }
    closedir(folder);
    return true;
}

/* Begins with the milliseconds since 1970: a name that was sent once is never used again, whatever became of
   the server. */
static uint64_t first_number(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void next_file(event_log* log)
{
    log->number++;
    snprintf(log->path, sizeof log->path, "%s/%s-%" PRIu64 ".log", log->folder, log->server, log->number);
    log->file = open(log->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0644);
    log->file_size = 0;
    log->files += log->file >= 0;
}

static void finish_file(event_log* log)
{
    if (log->file < 0) return;
    close(log->file);
    log->file = -1;
    if (log->file_size > 0) sender_offer(log->out, log->path);
    else unlink(log->path);
}

/* A part of a line would be a lie: what was not written whole is cut off again. */
static void write_lines(event_log* log)
{
    if (log->size == 0) return;
    if (log->file < 0) next_file(log);
    ssize_t written = log->file < 0 ? -1 : write(log->file, log->buffer, log->size);
    bool good = written == (ssize_t)log->size;
    if (good)
    {
        log->file_size += log->size;
        log->lines += log->lines_waiting;
    }
    else
    {
        if (written > 0 && ftruncate(log->file, (off_t)log->file_size) != 0) finish_file(log);
        log->failed += log->lines_waiting;
    }
    log->size = 0;
    log->lines_waiting = 0;
}

/* ---- Lines --------------------------------------------------------------------------------------------- */

static const char* time_text(event_log* log)
{
    time_t now = time(NULL);
    struct tm parts;
    if (log->second == (int64_t)now || gmtime_r(&now, &parts) == NULL) return log->time;
    log->second = (int64_t)now;
    strftime(log->time, sizeof log->time, "%Y-%m-%d %H:%M:%S", &parts);
    return log->time;
}

void event_log_add(event_log* log, uint32_t player, const char* event)
{
    char address[ADDRESS_SIZE];
    char line[LINE_SIZE];
    address_of_player(player, address);
    int size = snprintf(line, sizeof line, "%s %s %.*s\n", address, time_text(log), EVENT_SIZE - 1, event);
    if (size < 0 || (size_t)size >= sizeof line) return;
    if (log->size + (size_t)size > sizeof log->buffer) write_lines(log);
    memcpy(log->buffer + log->size, line, (size_t)size);
    log->size += (size_t)size;
    log->lines_waiting++;
}

/* ---- Open, frame, close -------------------------------------------------------------------------------- */

bool event_log_open(event_log* log, const char* folder, const char* server, sender* out)
{
    *log = (event_log){.out = out, .file = -1, .number = first_number()};
    bool fits = strlen(folder) < sizeof log->folder && strlen(server) < sizeof log->server;
    if (fits)
    {
        strcpy(log->folder, folder);
        strcpy(log->server, server);
    }
    else errno = ENAMETOOLONG;
    if (fits && offer_leftovers(log)) return true;
    perror(folder);
    return false;
}

void event_log_frame(event_log* log, uint64_t now_us)
{
    if (log->file < 0) log->begun_us = now_us;
    if (now_us >= log->write_us)
    {
        write_lines(log);
        log->write_us = now_us + FLUSH_US;
    }
    bool old = now_us - log->begun_us >= ROTATE_US;
    if (old || log->file_size >= EVENT_LOG_SIZE) finish_file(log);
}

void event_log_close(event_log* log)
{
    write_lines(log);
    finish_file(log);
}
