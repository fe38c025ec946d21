/* run_folder.h -- the folder of one run: the board, the logs, the data base, and what the processes print. It
   goes at the end. */

#ifndef GAME_SERVER_RUN_FOLDER_H
#define GAME_SERVER_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

enum
{
    RUN_FOLDER_SIZE = 256,
    RUN_PATH_SIZE = 320
};

typedef struct run_folder
{
    char path[RUN_FOLDER_SIZE];
    char board[RUN_PATH_SIZE];
    char output[RUN_PATH_SIZE]; /* of all processes but the fleet itself */
    char addresses[RUN_PATH_SIZE];
    char database[RUN_PATH_SIZE];
} run_folder;

/* Under TMPDIR, or /tmp. False: it was said on stderr why not. */
bool run_folder_make(run_folder* f);

/* The last lines of what the processes printed, to stderr. */
void run_folder_show_output(const run_folder* f);

/* With everything in it. */
void run_folder_remove(const run_folder* f);

#endif
