/* store_users.h -- who may do what: the rules of ACL SETUSER about commands, keys and channels. */

#ifndef GUILDHALL_EMBEDDED_STORE_USERS_H
#define GUILDHALL_EMBEDDED_STORE_USERS_H

#include "store_dict.h"

enum
{
    STORE_COMMANDS_MAX = 256
};

typedef struct store_user
{
    bool is_on;
    bool needs_no_password;
    bool all_commands; /* also those that this server does not know */
    bool all_keys;
    bool all_channels;
    uint8_t may[STORE_COMMANDS_MAX / 8]; /* by the command's number */
    store_dict passwords;                /* their SHA-1 would hide nothing here: as they are */
    store_dict keys;                     /* patterns */
    store_dict channels;
    gh_str name; /* in the dict of users */
} store_user;

typedef enum store_right
{
    STORE_MAY = 0,
    STORE_MAY_NOT_RUN,
    STORE_MAY_NOT_KEY,
    STORE_MAY_NOT_CHANNEL
} store_right;

store_user* gh_store_user_find(const struct gh_store* store, gh_str name);
void gh_store_users_begin(struct gh_store* store); /* the default user, as the config has it */
void gh_store_users_end(struct gh_store* store);
bool gh_store_user_knows(const store_user* user, gh_str password);

/* May the user of the command that is being carried out? */
struct store_command;
store_right gh_store_right_to(const struct gh_store* store, const struct store_command* command, const gh_str* words,
                              uint32_t count);

/* The commands of a class, such as "read"; NULL: there is none of that name. */
const char* gh_store_class(gh_str name);
bool gh_store_class_has(const char* commands, const char* name);
bool gh_store_matches(gh_str pattern, gh_str text); /* a glob pattern, as the server has them */

#endif
