/* tasks_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_TASKS_SCRIPTS_H
#define GH_TASKS_SCRIPTS_H

/* tasks_back.lua */
enum
{
    GH_TASKS_BACK_SEQUENCE = 0,
    GH_TASKS_BACK_NOW_US = 1,
    GH_TASKS_BACK_TASKS = 2
};

/* tasks_cancel.lua */
typedef enum gh_tasks_cancel_codes
{
    GH_TASKS_CANCEL_RUNS = 'r',
    GH_TASKS_CANCEL_OVER = 'g'
} gh_tasks_cancel_codes;

/* tasks_count.lua */
enum
{
    GH_TASKS_COUNT_SEQUENCE = 0,
    GH_TASKS_COUNT_NOW_US = 1,
    GH_TASKS_COUNT_STORED = 2,
    GH_TASKS_COUNT_RUNNING = 3,
    GH_TASKS_COUNT_LAPSED = 4,
    GH_TASKS_COUNT_DEAD = 5,
    GH_TASKS_COUNT_OVER = 6,
    GH_TASKS_COUNT_PAUSED = 7,
    GH_TASKS_COUNT_RUNNING_MAX = 8,
    GH_TASKS_COUNT_RATE_COUNT = 9,
    GH_TASKS_COUNT_RATE_PERIOD_US = 10,
    GH_TASKS_COUNT_RATE_BURST = 11,
    GH_TASKS_COUNT_READY_0 = 12,
    GH_TASKS_COUNT_DELAYED_0 = 13,
    GH_TASKS_COUNT_GROUPS_0 = 14,
    GH_TASKS_COUNT_READY_1 = 15,
    GH_TASKS_COUNT_DELAYED_1 = 16,
    GH_TASKS_COUNT_GROUPS_1 = 17,
    GH_TASKS_COUNT_READY_2 = 18,
    GH_TASKS_COUNT_DELAYED_2 = 19,
    GH_TASKS_COUNT_GROUPS_2 = 20,
    GH_TASKS_COUNT_READY_3 = 21,
    GH_TASKS_COUNT_DELAYED_3 = 22,
    GH_TASKS_COUNT_GROUPS_3 = 23
};

/* tasks_dead.lua */
enum
{
    GH_TASKS_DEAD_SEQUENCE = 0,
    GH_TASKS_DEAD_NOW_US = 1,
    GH_TASKS_DEAD_TOTAL = 2,
    GH_TASKS_DEAD_LETTERS = 3
};

/* tasks_finish.lua */
enum
{
    GH_TASKS_FINISH_SEQUENCE = 0,
    GH_TASKS_FINISH_NOW_US = 1,
    GH_TASKS_FINISH_CODES = 2
};
typedef enum gh_tasks_finish_codes
{
    GH_TASKS_FINISH_AS_ASKED = 'o',
    GH_TASKS_FINISH_DEAD = 'd',
    GH_TASKS_FINISH_CANCELLED = 'c',
    GH_TASKS_FINISH_LOST = 'l'
} gh_tasks_finish_codes;

/* tasks_look.lua */
enum
{
    GH_TASKS_LOOK_SEQUENCE = 0,
    GH_TASKS_LOOK_NOW_US = 1,
    GH_TASKS_LOOK_STATE = 2,
    GH_TASKS_LOOK_ATTEMPT = 3,
    GH_TASKS_LOOK_TIME_US = 4,
    GH_TASKS_LOOK_NOTE = 5,
    GH_TASKS_LOOK_GROUP = 6
};
typedef enum gh_tasks_look_state
{
    GH_TASKS_LOOK_NOT_KNOWN = 0,
    GH_TASKS_LOOK_READY = 1,
    GH_TASKS_LOOK_DELAYED = 2,
    GH_TASKS_LOOK_RUNNING = 3,
    GH_TASKS_LOOK_CANCELLING = 4,
    GH_TASKS_LOOK_WAITING = 5,
    GH_TASKS_LOOK_DEAD = 6,
    GH_TASKS_LOOK_DONE = 7,
    GH_TASKS_LOOK_CANCELLED = 8
} gh_tasks_look_state;

/* tasks_push.lua */
enum
{
    GH_TASKS_PUSH_SEQUENCE = 0,
    GH_TASKS_PUSH_NOW_US = 1,
    GH_TASKS_PUSH_CODES = 2
};
typedef enum gh_tasks_push_codes
{
    GH_TASKS_PUSH_TAKEN = 'o',
    GH_TASKS_PUSH_EXISTS = 'e',
    GH_TASKS_PUSH_DIFFERS = 'x',
    GH_TASKS_PUSH_FULL = 'f',
    GH_TASKS_PUSH_UNSURE = 'u'
} gh_tasks_push_codes;

/* tasks_renew.lua */
enum
{
    GH_TASKS_RENEW_SEQUENCE = 0,
    GH_TASKS_RENEW_NOW_US = 1,
    GH_TASKS_RENEW_CODES = 2
};
typedef enum gh_tasks_renew_codes
{
    GH_TASKS_RENEW_RENEWED = 'o',
    GH_TASKS_RENEW_CANCELLED = 'c',
    GH_TASKS_RENEW_LOST = 'l'
} gh_tasks_renew_codes;

/* tasks_take.lua */
enum
{
    GH_TASKS_TAKE_SEQUENCE = 0,
    GH_TASKS_TAKE_CODE = 1,
    GH_TASKS_TAKE_NOW_US = 2,
    GH_TASKS_TAKE_FENCE = 3,
    GH_TASKS_TAKE_REMAINING_US = 4,
    GH_TASKS_TAKE_NEXT_US = 5,
    GH_TASKS_TAKE_TASKS = 6
};
typedef enum gh_tasks_take_code
{
    GH_TASKS_TAKE_GIVEN = 0,
    GH_TASKS_TAKE_EMPTY = 1,
    GH_TASKS_TAKE_PAUSED = 2,
    GH_TASKS_TAKE_STALE = 3,
    GH_TASKS_TAKE_OVER_RATE = 4,
    GH_TASKS_TAKE_OVER_RUNNING = 5,
    GH_TASKS_TAKE_LATE = 6,
    GH_TASKS_TAKE_LAPSED = 7,
    GH_TASKS_TAKE_TOO_LARGE = 8
} gh_tasks_take_code;

/* once.lua */
enum
{
    GH_ONCE_SEQUENCE = 0,
    GH_ONCE_NOW_US = 1,
    GH_ONCE_CODES = 2
};
typedef enum gh_once_codes
{
    GH_ONCE_DONE = 'o',
    GH_ONCE_NOT_KNOWN = 'n'
} gh_once_codes;

#endif
