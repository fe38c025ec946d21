/* redis_process.c -- the program found, its command line built, its process begun. */

#define _DEFAULT_SOURCE /* vfork */

#include "support/server/redis_process.h"

#include "support/server/papers.h"
#include "support/suite.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ARGUMENT_CAPACITY 96
#define PATH_SIZE         512

extern char** environ;

static bool find_in_path(const char* name, char path[PATH_SIZE])
{
    const char* from = getenv("PATH");
    if (from == NULL) from = "/usr/local/bin:/usr/bin:/bin";
    while (*from != '\0')
    {
        size_t size = strcspn(from, ":");
        int written = snprintf(path, PATH_SIZE, "%.*s/%s", (int)size, from, name);
        if (written < PATH_SIZE && access(path, X_OK) == 0) return true;
        from += size;
        if (*from == ':') from++;
    }
    return false;
}

static int ask_major_version(const char* program)
{
    char command[PATH_SIZE + 32];
    char line[256] = "";
    snprintf(command, sizeof(command), "'%s' --version 2>/dev/null", program);
    FILE* output = popen(command, "r");
    if (output == NULL) return 0;
    if (fgets(line, sizeof(line), output) == NULL) line[0] = '\0';
    pclose(output);
    const char* version = strstr(line, "v=");
    return version == NULL ? 0 : atoi(version + 2);
}

/* Looked up once a run. NULL when there is none. */
static const char* find_program(int* major_version)
{
    static char path[PATH_SIZE];
    static int version = -1;
    if (version < 0)
    {
        if (!find_in_path("redis-server", path) && !find_in_path("valkey-server", path)) return NULL;
        version = ask_major_version(path);
    }
    *major_version = version;
    return path;
}

typedef struct command_line
{
    const char* values[ARGUMENT_CAPACITY];
    size_t count;
} command_line;

static void add(command_line* line, const char* value)
{
    if (line->count >= ARGUMENT_CAPACITY - 1)
    {
        fail_msg("%s", "too many arguments for the server");
        return;
    }
    line->values[line->count++] = value;
    line->values[line->count] = NULL;
}

static void add_pair(command_line* line, const char* name, const char* value)
{
    add(line, name);
    add(line, value);
}

/* Runs in the child, in the memory of its parent, which stands still until the child is the server: only calls that are
   safe there. */
static void become_server(const char* program, const command_line* line, char** environment, const char* log_path,
                          pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    setpgid(0, 0); /* control-C ends the tests, and they end the server */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); /* the parent ended before prctl took hold */
    int null = open("/dev/null", O_RDONLY);
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    execve(program, (char* const*)(uintptr_t)line->values, environment);
    _exit(127);
}

/* To copy this process would take longer than a server does to start, so the child borrows its memory. */
static pid_t begin_server(const char* program, const command_line* line, char** environment, const char* log_path)
{
    const pid_t parent = getpid();
    const pid_t pid = vfork();
    if (pid == 0) become_server(program, line, environment, log_path, parent);
    return pid;
}

/* The environment with LD_PRELOAD and the offset's file in front. The caller frees the array, not its
   strings. */
static char** environment_with_clock(char* preload, char* offset_file)
{
    size_t count = 0;
    while (environ[count] != NULL) count++;
    char** environment = calloc(count + 3, sizeof(*environment));
    if (environment == NULL) abort();
    size_t used = 0;
    environment[used++] = preload;
    environment[used++] = offset_file;
    for (size_t i = 0; i < count; i++)
    {
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0) environment[used++] = environ[i];
    }
    return environment;
}

/* A server that knows the setting says that this is no value of it, and ends. */
static bool ask_tls(const char* program)
{
    char command[PATH_SIZE + 32];
    char text[1024];
    snprintf(command, sizeof(command), "'%s' --tls-port none 2>&1", program);
    FILE* output = popen(command, "r");
    if (output == NULL) abort();
    text[fread(text, 1, sizeof(text) - 1, output)] = '\0';
    pclose(output);
    return strstr(text, "Bad directive") == NULL;
}

void redis_process_needs_tls(void)
{
    static int has_tls = -1;
    int major_version;
    const char* program = find_program(&major_version);
    if (program != NULL && has_tls < 0) has_tls = ask_tls(program);
    if (has_tls == 0) suite_skip("this server was built without TLS");
}

static void add_tls(command_line* line, const redis_process_plan* plan, char port[8])
{
    const char* certificate = plan->certificate == NULL ? "server" : plan->certificate;
    char pem[32], key[32];
    snprintf(port, 8, "%u", plan->tls_port);
    snprintf(pem, sizeof(pem), "%s.pem", certificate);
    snprintf(key, sizeof(key), "%s.key", certificate);
    add_pair(line, "--tls-port", port);
    add_pair(line, "--tls-cert-file", papers_path(pem));
    add_pair(line, "--tls-key-file", papers_path(key));
    add_pair(line, "--tls-ca-cert-file", papers_path("root.pem"));
    add_pair(line, "--tls-auth-clients", "no");
}

pid_t redis_process_spawn(const redis_process_plan* plan)
{
    int major_version = 0;
    const char* program = find_program(&major_version);
    if (program == NULL)
    {
        fail_msg("%s", "neither redis-server nor valkey-server is in the PATH");
        return 0;
    }

    char socket_path[PATH_SIZE], data_path[PATH_SIZE], log_path[PATH_SIZE], port[8], tls_port[8];
    snprintf(socket_path, sizeof(socket_path), "%s/redis.sock", plan->folder);
    snprintf(data_path, sizeof(data_path), "%s/data", plan->folder);
    snprintf(log_path, sizeof(log_path), "%s/log", plan->folder);
    snprintf(port, sizeof(port), "%u", plan->port);

    command_line line = {{NULL}, 0};
    add(&line, program);
    if (plan->file != NULL) add(&line, plan->file);
    if (plan->sentinel) add(&line, "--sentinel");
    add_pair(&line, "--port", port);
    if (plan->port != 0 || plan->tls_port != 0)
    {
        add_pair(&line, "--bind", "127.0.0.1");
        if (plan->six) add(&line, "::1");
    }
    if (plan->tls_port != 0) redis_process_needs_tls();
    if (plan->tls_port != 0) add_tls(&line, plan, tls_port);
    add_pair(&line, "--unixsocket", socket_path);
    add_pair(&line, "--dir", data_path);
    add_pair(&line, "--save", "");
    add_pair(&line, "--appendonly", plan->append_only ? "yes" : "no");
    /* With "no" the server writes before it answers, and what is written outlives a kill of the process; "everysec" may
       put the write off behind a sync, and "always" would wait for a disc that others may be using. */
    if (plan->append_only) add_pair(&line, "--appendfsync", "no");
    if (major_version >= 7) add_pair(&line, "--enable-debug-command", "yes"); /* DEBUG SLEEP and friends */
    for (size_t i = 0; plan->arguments != NULL && plan->arguments[i] != NULL; i++) add(&line, plan->arguments[i]);

    char preload[PATH_SIZE + 16], offset_file[PATH_SIZE + 64];
    char** environment = environ;
    if (plan->clock != NULL)
    {
        snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", clock_library(plan->clock));
        snprintf(offset_file, sizeof(offset_file), "GUILDHALL_CLOCK_OFFSET=%s", clock_file(plan->clock));
        environment = environment_with_clock(preload, offset_file);
    }

    pid_t pid = begin_server(program, &line, environment, log_path);
    if (environment != environ) free(environment);
    if (pid < 0) fail_msg("%s", "cannot begin a process");
    return pid;
}

void redis_process_show_log(const char* folder)
{
    char path[PATH_SIZE], text[4096];
    snprintf(path, sizeof(path), "%s/log", folder);
    FILE* file = fopen(path, "r");
    if (file == NULL) return;
    if (fseek(file, -(long)sizeof(text) + 1, SEEK_END) != 0) rewind(file);
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    fclose(file);
    fprintf(stderr, "---- end of the server's log\n%s----\n", text);
}
