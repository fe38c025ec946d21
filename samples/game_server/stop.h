/* stop.h -- Ctrl-C and its kin: a role that is asked to stop ends in good order. */

#ifndef GAME_SERVER_STOP_H
#define GAME_SERVER_STOP_H

/* From here on SIGINT, SIGTERM and SIGHUP are counted and do not kill; nor does SIGPIPE. */
void stop_catch_signals(void);

/* How often one of them came. One: end in good order; more: end at once. */
int stop_signals(void);

/* From here on this thread listens to that number in their stead. */
void stop_listen_to(const _Atomic int* orders);

#endif
