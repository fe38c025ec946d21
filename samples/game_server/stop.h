/* stop.h -- Ctrl-C and its kin: a process that is asked to stop ends in good order. */

#ifndef GAME_SERVER_STOP_H
#define GAME_SERVER_STOP_H

/* From here on SIGINT, SIGTERM and SIGHUP are counted and do not kill; nor does SIGPIPE. */
void stop_catch_signals(void);

/* How often one of them came. One: end in good order; more: end at once. */
int stop_signals(void);

#endif
