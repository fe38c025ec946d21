/* stop.c -- counts the signals that ask the process to stop. */

#include "stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stops;

static void on_stop(int number)
{
    (void)number;
    stops = stops + 1;
}

void stop_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* our own output may be a pipe that nobody reads any more */
}

int stop_signals(void)
{
    return stops;
}
