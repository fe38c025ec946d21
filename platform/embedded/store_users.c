/* store_users.c -- see store_users.h; and AUTH, HELLO and ACL. */

#include "store_commands.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/* Behind the closing bracket, or the end; *HIT: the letter is one of the class. */
static const char* match_class(const char* at, const char* end, char letter, bool* hit)
{
    bool inverts = at < end && *at == '^';
    if (inverts) at++;
    *hit = false;
    for (; at < end && *at != ']'; at++)
    {
        if (*at == '\\' && at + 1 < end) at++;
        else if (at + 2 < end && at[1] == '-')
        {
            const char low = at[0] < at[2] ? at[0] : at[2];
            const char high = at[0] < at[2] ? at[2] : at[0];
            if (letter >= low && letter <= high) *hit = true;
            at += 2;
            continue;
        }
        if (*at == letter) *hit = true;
    }
    *hit = *hit != inverts;
    return at < end ? at + 1 : at;
}

/* One place in the pattern against one letter: where the pattern goes on; NULL: no. */
static const char* match_one(const char* at, const char* end, char letter)
{
    bool hit;
    if (*at == '?') return at + 1;
    if (*at == '[')
    {
        at = match_class(at + 1, end, letter, &hit);
        return hit ? at : NULL;
    }
    if (*at == '\\' && at + 1 < end) at++;
    return *at == letter ? at + 1 : NULL;
}

/* After a mismatch the last star takes one letter more. */
bool gh_store_matches(gh_str pattern, gh_str text)
{
    const char* at = pattern.bytes;
    const char* end = at + pattern.size;
    const char* star = NULL;
    size_t taken = 0;
    size_t i = 0;
    while (i < text.size)
    {
        const char* next = at < end && *at != '*' ? match_one(at, end, text.bytes[i]) : NULL;
        if (at < end && *at == '*')
        {
            star = ++at;
            taken = i;
        }
        else if (next != NULL)
        {
            at = next;
            i++;
        }
        else if (star != NULL)
        {
            at = star;
            i = ++taken;
        }
        else return false;
    }
    while (at < end && *at == '*') at++;
    return at == end;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static void add_name(store_pool* pool, store_dict* dict, gh_str name)
{
    const uint32_t hash = gh_store_hash(name);
    if (gh_store_dict_find(dict, name, hash) == NULL) gh_store_dict_add(dict, pool, name, hash);
}

/* False: it is not there. */
static bool remove_name(store_pool* pool, store_dict* dict, gh_str name)
{
    store_entry* entry = gh_store_dict_take(dict, name, gh_store_hash(name));
    if (entry != NULL) gh_store_entry_free(pool, entry);
    return entry != NULL;
}

/* No name of a user, and no pattern. */
static bool has_blank(gh_str text)
{
    size_t i;
    for (i = 0; i < text.size; i++)
        if (text.bytes[i] == ' ' || text.bytes[i] == '\0' || (text.bytes[i] >= '\t' && text.bytes[i] <= '\r'))
            return true;
    return false;
}

static void set_command(store_user* user, uint32_t number, bool may)
{
    const uint8_t bit = (uint8_t)(1u << number % 8);
    if (may) user->may[number / 8] |= bit;
    else user->may[number / 8] &= (uint8_t)~bit;
}

static void set_all(store_user* user, bool may)
{
    memset(user->may, may ? 0xff : 0, sizeof user->may);
    user->all_commands = may;
}

/* A whole command with its parts, or "command|part". What the store does not know is nothing to it. */
static void set_named(store_user* user, gh_str name, bool may)
{
    uint32_t i;
    for (i = 0; i < gh_store_command_count(); i++)
    {
        const char* own = gh_store_command_at(i)->name;
        const char* bar = strchr(own, '|');
        const bool is_part =
            bar != NULL && (size_t)(bar - own) == name.size && strncmp(own, name.bytes, name.size) == 0;
        if (gh_store_is_word(name, own) || is_part) set_command(user, i, may);
    }
    if (!may) user->all_commands = false;
}

/* False: there is no such class. */
static bool set_class(store_user* user, gh_str name, bool may)
{
    const char* commands = gh_store_class(name);
    uint32_t i;
    if (gh_store_is_word(name, "all"))
    {
        set_all(user, may);
        return true;
    }
    for (i = 0; commands != NULL && i < gh_store_command_count(); i++)
        if (gh_store_class_has(commands, gh_store_command_at(i)->name)) set_command(user, i, may);
    if (commands != NULL && !may) user->all_commands = false;
    return commands != NULL;
}

static const char no_password[] = "The password you are trying to remove from the user does not exist";
static const char not_known[] = "Syntax error";
static const char no_class[] = "Unknown command or category name in ACL";
static const char key_after_all[] =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try "
    "'resetkeys' to start with an empty list of patterns";
static const char channel_after_all[] =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try "
    "'resetchannels' to start with an empty list of channels";

static bool apply_word(store_pool* pool, store_user* user, gh_str rule)
{
    if (gh_store_is_word(rule, "on")) user->is_on = true;
    else if (gh_store_is_word(rule, "off")) user->is_on = false;
    else if (gh_store_is_word(rule, "nopass") || gh_store_is_word(rule, "resetpass"))
    {
        gh_store_dict_end(&user->passwords, pool);
        user->needs_no_password = gh_store_is_word(rule, "nopass");
    }
    else if (gh_store_is_word(rule, "allkeys"))
    {
        user->all_keys = true;
        gh_store_dict_end(&user->keys, pool);
    }
    else if (gh_store_is_word(rule, "resetkeys"))
    {
        user->all_keys = false;
        gh_store_dict_end(&user->keys, pool);
    }
    else if (gh_store_is_word(rule, "allchannels"))
    {
        user->all_channels = true;
        gh_store_dict_end(&user->channels, pool);
    }
    else if (gh_store_is_word(rule, "resetchannels"))
    {
        user->all_channels = false;
        gh_store_dict_end(&user->channels, pool);
    }
    else if (gh_store_is_word(rule, "allcommands")) set_all(user, true);
    else if (gh_store_is_word(rule, "nocommands")) set_all(user, false);
    else return false;
    return true;
}

static void reset(store_pool* pool, store_user* user)
{
    static const char* const words[] = {"off", "resetpass", "resetkeys", "resetchannels", "nocommands"};
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++) apply_word(pool, user, gh_str_of(words[i]));
}

/* A pattern; that of all is a word. */
static const char* apply_pattern(store_pool* pool, store_user* user, gh_str pattern, bool of_keys)
{
    if (gh_store_is_word(pattern, "*"))
    {
        apply_word(pool, user, of_keys ? gh_str_literal("allkeys") : gh_str_literal("allchannels"));
        return NULL;
    }
    if (has_blank(pattern)) return not_known;
    if (of_keys ? user->all_keys : user->all_channels) return of_keys ? key_after_all : channel_after_all;
    add_name(pool, of_keys ? &user->keys : &user->channels, pattern);
    return NULL;
}

/* NULL, or what is wrong with it. */
static const char* apply_rule(store_pool* pool, store_user* user, gh_str rule)
{
    gh_str rest;
    if (rule.size == 0) return NULL;
    rest = gh_str_make(rule.bytes + 1, rule.size - 1);
    if (gh_store_is_word(rule, "reset"))
    {
        reset(pool, user);
        return NULL;
    }
    switch (rule.bytes[0])
    {
    case '>':
        add_name(pool, &user->passwords, rest);
        user->needs_no_password = false;
        return NULL;
    case '<': return remove_name(pool, &user->passwords, rest) ? NULL : no_password;
    case '~': return apply_pattern(pool, user, rest, true);
    case '&': return apply_pattern(pool, user, rest, false);
    case '+':
    case '-':
        if (rest.size > 0 && rest.bytes[0] == '@')
            return set_class(user, gh_str_make(rest.bytes + 1, rest.size - 1), rule.bytes[0] == '+') ? NULL : no_class;
        if (rest.size == 0) return no_class;
        set_named(user, rest, rule.bytes[0] == '+');
        return NULL;
    default: return apply_word(pool, user, rule) ? NULL : not_known;
    }
}

/* ---- a draft: of rules that are given together all count, or none ------------------------------------------------ */

static void copy_names(store_pool* pool, store_dict* to, const store_dict* from)
{
    uint32_t at = 0;
    const store_entry* entry;
    memset(to, 0, sizeof *to);
    while ((entry = gh_store_dict_next(from, &at)) != NULL) add_name(pool, to, gh_store_entry_name(entry));
}

static void end_names(store_pool* pool, store_user* user)
{
    gh_store_dict_end(&user->passwords, pool);
    gh_store_dict_end(&user->keys, pool);
    gh_store_dict_end(&user->channels, pool);
}

/* ---- users ------------------------------------------------------------------------------------------------------- */

store_user* gh_store_user_find(const gh_store* store, gh_str name)
{
    store_entry* entry = gh_store_dict_find(&store->users, name, gh_store_hash(name));
    return entry == NULL ? NULL : (store_user*)entry->is.any;
}

static store_user* find_or_make(gh_store* store, gh_str name)
{
    store_user* user = gh_store_user_find(store, name);
    store_entry* entry;
    if (user != NULL) return user;
    user = (store_user*)gh_store_heap_resize(NULL, sizeof *user);
    memset(user, 0, sizeof *user);
    entry = gh_store_dict_add(&store->users, store->pool, name, gh_store_hash(name));
    entry->is.any = user;
    user->name = gh_store_entry_name(entry);
    return user;
}

/* A user who is not there yet begins without any right. */
static store_user draft_of(const gh_store* store, gh_str name)
{
    const store_user* user = gh_store_user_find(store, name);
    store_user draft;
    memset(&draft, 0, sizeof draft);
    if (user == NULL) return draft;
    draft = *user;
    copy_names(store->pool, &draft.passwords, &user->passwords);
    copy_names(store->pool, &draft.keys, &user->keys);
    copy_names(store->pool, &draft.channels, &user->channels);
    return draft;
}

/* ERROR: NULL, and the draft is how the user is from here on. */
static const char* end_draft(gh_store* store, gh_str name, store_user* draft, const char* error)
{
    store_user* user = error == NULL ? find_or_make(store, name) : draft;
    end_names(store->pool, user);
    if (error != NULL) return error;
    draft->name = user->name;
    *user = *draft;
    return NULL;
}

static void free_user(gh_store* store, store_user* user)
{
    end_names(store->pool, user);
    free(user);
}

void gh_store_users_begin(gh_store* store)
{
    store_user* user = find_or_make(store, gh_str_literal("default"));
    const gh_str password = gh_str_of(store->password);
    reset(store->pool, user);
    user->is_on = user->all_keys = user->all_channels = true;
    set_all(user, true);
    user->needs_no_password = password.size == 0;
    if (password.size > 0) add_name(store->pool, &user->passwords, password);
}

void gh_store_users_end(gh_store* store)
{
    uint32_t at = 0;
    const store_entry* entry;
    while ((entry = gh_store_dict_next(&store->users, &at)) != NULL) free_user(store, (store_user*)entry->is.any);
    gh_store_dict_end(&store->users, store->pool);
}

bool gh_store_user_knows(const store_user* user, gh_str password)
{
    if (user == NULL || !user->is_on) return false;
    return user->needs_no_password || gh_store_dict_find(&user->passwords, password, gh_store_hash(password)) != NULL;
}

const char* gh_store_set_user(gh_store* store, const char* name, const char* rules)
{
    store_user draft = draft_of(store, gh_str_of(name));
    const char* error = NULL;
    while (*rules != '\0' && error == NULL)
    {
        const size_t size = strcspn(rules, " ");
        if (size > 0) error = apply_rule(store->pool, &draft, gh_str_make(rules, size));
        rules += size;
        if (*rules == ' ') rules++;
    }
    return end_draft(store, gh_str_of(name), &draft, error);
}

/* ---- may it? ----------------------------------------------------------------------------------------------------- */

static bool matches_any(const store_dict* patterns, gh_str text)
{
    uint32_t at = 0;
    const store_entry* entry;
    while ((entry = gh_store_dict_next(patterns, &at)) != NULL)
        if (gh_store_matches(gh_store_entry_name(entry), text)) return true;
    return false;
}

/* A pattern to listen to must be one of the user's own, letter by letter. */
static bool may_listen(const store_user* user, gh_str text, bool is_pattern)
{
    if (is_pattern) return gh_store_dict_find(&user->channels, text, gh_store_hash(text)) != NULL;
    return matches_any(&user->channels, text);
}

static bool may_channels(const store_user* user, unsigned flags, const gh_str* words, uint32_t count)
{
    const unsigned about = STORE_CHANNEL | STORE_CHANNELS | STORE_PATTERNS;
    uint32_t i;
    if (user->all_channels || (flags & about) == 0) return true;
    for (i = 1; i < ((flags & STORE_CHANNEL) != 0 ? 2 : count); i++)
        if (!may_listen(user, words[i], (flags & STORE_PATTERNS) != 0)) return false;
    return true;
}

store_right gh_store_right_to(const gh_store* store, const store_command* command, const gh_str* words, uint32_t count)
{
    const store_user* user = store->user;
    const uint32_t number = gh_store_command_number(command);
    store_keys_of keys;
    uint32_t i;
    if (user == NULL || store->is_applied || (user->all_commands && user->all_keys && user->all_channels))
        return STORE_MAY;
    if ((user->may[number / 8] & 1u << number % 8) == 0 && (command->flags & STORE_NO_USER) == 0)
        return STORE_MAY_NOT_RUN;
    keys = gh_store_keys_of(command, words, count);
    if ((command->flags & (STORE_CHANNEL | STORE_CHANNELS)) != 0) keys.count = 0;
    for (i = 0; i < keys.count && !user->all_keys; i++)
        if (!matches_any(&user->keys, words[keys.first + i * keys.step])) return STORE_MAY_NOT_KEY;
    return may_channels(user, command->flags, words, count) ? STORE_MAY : STORE_MAY_NOT_CHANNEL;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

void gh_store_auth(gh_store* store)
{
    const bool named = store->count == 3;
    store_user* user = gh_store_user_find(store, named ? store->words[1] : gh_str_literal("default"));
    if (store->count > 3)
    {
        gh_store_reply_error(store, STORE_SYNTAX);
        return;
    }
    if (!named && user->needs_no_password)
    {
        gh_store_reply_error(store, "ERR AUTH <password> called without any password configured for the default user. "
                                    "Are you sure your configuration is correct?");
        return;
    }
    if (!gh_store_user_knows(user, store->words[store->count - 1]))
    {
        gh_store_reply_error(store, "WRONGPASS invalid username-password pair or user is disabled.");
        return;
    }
    if (store->link != NULL) store->link->user = user;
    gh_store_reply_ok(store);
}

/* RESP2 is all that it speaks, and so it says. */
void gh_store_hello(gh_store* store)
{
    gh_store_reply_error(store, "NOPROTO unsupported protocol version");
}

void gh_store_acl_setuser(gh_store* store)
{
    const gh_str name = store->words[2];
    store_user draft;
    const char* error = NULL;
    uint32_t at = 2;
    if (has_blank(name))
    {
        gh_store_reply_error(store, "ERR Usernames can't contain spaces or null characters");
        return;
    }
    draft = draft_of(store, name);
    while (error == NULL && ++at < store->count) error = apply_rule(store->pool, &draft, store->words[at]);
    if (end_draft(store, name, &draft, error) == NULL) gh_store_reply_ok(store);
    else
        gh_store_reply_error(store, "ERR Error in ACL SETUSER modifier '%.*s': %s",
                             (int)(store->words[at].size < 64 ? store->words[at].size : 64), store->words[at].bytes,
                             error);
}

/* Their links end with them. */
static void close_links_of(gh_store* store, const store_user* user)
{
    gh_store_link* link;
    for (link = store->first_link; link != NULL; link = link->next)
    {
        if (link->user != user) continue;
        link->user = NULL;
        gh_store_link_close(link);
    }
}

void gh_store_acl_deluser(gh_store* store)
{
    int64_t count = 0;
    uint32_t at;
    for (at = 2; at < store->count; at++)
    {
        if (!gh_str_equal(store->words[at], gh_str_literal("default"))) continue;
        gh_store_reply_error(store, "ERR The 'default' user cannot be removed");
        return;
    }
    for (at = 2; at < store->count; at++)
    {
        store_user* user = gh_store_user_find(store, store->words[at]);
        if (user == NULL) continue;
        close_links_of(store, user);
        remove_name(store->pool, &store->users, store->words[at]);
        free_user(store, user);
        count++;
    }
    gh_store_reply_integer(store, count);
}

void gh_store_acl_whoami(gh_store* store)
{
    gh_store_reply_text(store, store->user == NULL ? gh_str_literal("default") : store->user->name);
}
