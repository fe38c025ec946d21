/* storm_command.h -- what the records of commands that run once mean. */

#ifndef GUILDHALL_TESTS_STORM_STORM_COMMAND_H
#define GUILDHALL_TESTS_STORM_STORM_COMMAND_H

enum
{
    COMMAND_NAMES = 3
};

enum
{
    COMMAND_ONCE = 1, /* a: how long the list was with it, as the answer says; 0: no answer              */
    COMMAND_ENTRY     /* in the list in the end; about: the command, a: how long the list was with it    */
};

void check_command(void);

#endif
