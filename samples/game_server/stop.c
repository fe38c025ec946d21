/* stop.c -- counts the signals that ask the process to stop, or what a thread is told instead. */

#include "stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stops;
static _Thread_local const _Atomic int* own_orders; /* NULL: signals are meant */

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
    return own_orders != NULL ? *own_orders : stops;
}

void stop_listen_to(const _Atomic int* orders)
{
    own_orders = orders;
}
