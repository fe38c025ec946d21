/* chat_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_CHAT_SCRIPTS_H
#define GH_CHAT_SCRIPTS_H

/* chat_create.lua */
enum
{
    GH_CHAT_CREATE_SEQUENCE = 0,
    GH_CHAT_CREATE_CODE = 1,
    GH_CHAT_CREATE_EPOCH = 2
};
typedef enum gh_chat_create_code
{
    GH_CHAT_CREATE_MADE = 0,
    GH_CHAT_CREATE_EXISTS = 1,
    GH_CHAT_CREATE_OLD = 2
} gh_chat_create_code;

/* chat_join.lua */
enum
{
    GH_CHAT_JOIN_SEQUENCE = 0,
    GH_CHAT_JOIN_CODE = 1,
    GH_CHAT_JOIN_EPOCH = 2,
    GH_CHAT_JOIN_SEEN = 3
};
typedef enum gh_chat_join_code
{
    GH_CHAT_JOIN_JOINED = 0,
    GH_CHAT_JOIN_GONE = 1,
    GH_CHAT_JOIN_OLD = 2,
    GH_CHAT_JOIN_FULL = 4,
    GH_CHAT_JOIN_MEMBER = 5
} gh_chat_join_code;

/* chat_leave.lua */
enum
{
    GH_CHAT_LEAVE_SEQUENCE = 0,
    GH_CHAT_LEAVE_CODE = 1,
    GH_CHAT_LEAVE_MEMBERS = 2,
    GH_CHAT_LEAVE_NOW_US = 3,
    GH_CHAT_LEAVE_LEFT_US = 4
};
typedef enum gh_chat_leave_code
{
    GH_CHAT_LEAVE_LEFT = 0,
    GH_CHAT_LEAVE_GONE = 1,
    GH_CHAT_LEAVE_OLD = 2,
    GH_CHAT_LEAVE_NO_MEMBER = 4
} gh_chat_leave_code;

/* chat_read.lua */
enum
{
    GH_CHAT_READ_SEQUENCE = 0,
    GH_CHAT_READ_CODE = 1,
    GH_CHAT_READ_EPOCH = 2,
    GH_CHAT_READ_FIRST_ID = 3,
    GH_CHAT_READ_LAST_ID = 4,
    GH_CHAT_READ_NOW_US = 5,
    GH_CHAT_READ_LARGEST = 6,
    GH_CHAT_READ_EPOCHS = 7,
    GH_CHAT_READ_SEEN = 8
};
typedef enum gh_chat_read_code
{
    GH_CHAT_READ_THERE = 0,
    GH_CHAT_READ_GONE = 1,
    GH_CHAT_READ_LOST = 2
} gh_chat_read_code;

/* chat_roster.lua */
enum
{
    GH_CHAT_ROSTER_SEQUENCE = 0,
    GH_CHAT_ROSTER_CODE = 1,
    GH_CHAT_ROSTER_EPOCH = 2,
    GH_CHAT_ROSTER_MEMBERS = 3,
    GH_CHAT_ROSTER_CURSOR = 4,
    GH_CHAT_ROSTER_AFTER = 5,
    GH_CHAT_ROSTER_PAGE = 6
};
typedef enum gh_chat_roster_code
{
    GH_CHAT_ROSTER_THERE = 0,
    GH_CHAT_ROSTER_GONE = 1
} gh_chat_roster_code;

/* chat_send.lua */
enum
{
    GH_CHAT_SEND_SEQUENCE = 0,
    GH_CHAT_SEND_CODE = 1,
    GH_CHAT_SEND_FIRST_ID = 2,
    GH_CHAT_SEND_EPOCH = 3,
    GH_CHAT_SEND_NOW_US = 4,
    GH_CHAT_SEND_CODES = 5
};
typedef enum gh_chat_send_code
{
    GH_CHAT_SEND_TAKEN = 0,
    GH_CHAT_SEND_GONE = 1,
    GH_CHAT_SEND_OLD = 2,
    GH_CHAT_SEND_FULL = 4
} gh_chat_send_code;
typedef enum gh_chat_send_codes
{
    GH_CHAT_SEND_SAID = '0',
    GH_CHAT_SEND_NO_MEMBER = '1'
} gh_chat_send_codes;

/* chats_add.lua */
enum
{
    GH_CHATS_ADD_SEQUENCE = 0,
    GH_CHATS_ADD_CODE = 1
};
typedef enum gh_chats_add_code
{
    GH_CHATS_ADD_NOTED = 0,
    GH_CHATS_ADD_FULL = 1
} gh_chats_add_code;

/* chats_list.lua */
enum
{
    GH_CHATS_LIST_SEQUENCE = 0,
    GH_CHATS_LIST_CHATS = 1,
    GH_CHATS_LIST_NOW_US = 2,
    GH_CHATS_LIST_NAMES = 3
};

/* chats_remove.lua */
enum
{
    GH_CHATS_REMOVE_SEQUENCE = 0,
    GH_CHATS_REMOVE_CODE = 1
};
typedef enum gh_chats_remove_code
{
    GH_CHATS_REMOVE_REMOVED = 0,
    GH_CHATS_REMOVE_KEPT = 1
} gh_chats_remove_code;

#endif
