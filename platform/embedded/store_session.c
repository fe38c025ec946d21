/* store_session.c -- commands about a link and about the server: who it is, what time it has, how it stands. */

#include "store_commands.h"

#include <stdio.h>

/* ---- the link ---------------------------------------------------------------------------------------------------- */

void gh_store_ping(gh_store* store)
{
    const bool has_text = store->count == 2;
    if (store->count > 2)
    {
        gh_store_reply_error(store, "ERR wrong number of arguments for 'ping' command");
        return;
    }
    if (store->answer->lua == NULL && store->link != NULL && gh_store_listens_to(store->link) > 0)
    {
        gh_store_reply_array(store, 2);
        gh_store_reply_text(store, gh_str_literal("pong"));
        gh_store_reply_text(store, has_text ? store->words[1] : gh_str_literal(""));
    }
    else if (has_text) gh_store_reply_text(store, store->words[1]);
    else gh_store_reply_status(store, "PONG");
}

void gh_store_echo(gh_store* store)
{
    gh_store_reply_text(store, store->words[1]);
}

void gh_store_quit(gh_store* store)
{
    gh_store_reply_ok(store);
    if (store->link != NULL) gh_store_link_close(store->link);
}

void gh_store_reset(gh_store* store)
{
    gh_store_link* link = store->link;
    if (link != NULL)
    {
        const store_user* user = gh_store_user_find(store, gh_str_literal("default"));
        gh_store_listen_to_nothing(link);
        gh_store_blob_free(store->pool, link->name);
        link->name = NULL;
        link->database = 0;
        link->is_asking = link->reads = false;
        link->user =
            user->is_on && user->needs_no_password ? gh_store_user_find(store, gh_str_literal("default")) : NULL;
    }
    gh_store_reply_status(store, "RESET");
}

void gh_store_select(gh_store* store)
{
    int64_t number;
    if (!gh_store_word_integer(store, 1, &number)) return;
    if (store->config.cluster_enabled && number != 0)
    {
        gh_store_reply_error(store, "ERR SELECT is not allowed in cluster mode");
        return;
    }
    if (number < INT32_MIN || number > INT32_MAX)
    {
        gh_store_reply_error(store, "ERR value is out of range, value must between -2147483648 and 2147483647");
        return;
    }
    if (number < 0 || number >= STORE_DATABASES)
    {
        gh_store_reply_error(store, "ERR DB index is out of range");
        return;
    }
    store->database = (uint32_t)number;
    store->keys = &store->databases[number];
    if (store->link != NULL && store->answer->lua == NULL) store->link->database = (uint32_t)number;
    gh_store_reply_ok(store);
}

void gh_store_client_setname(gh_store* store)
{
    const gh_str name = store->words[2];
    size_t i;
    for (i = 0; i < name.size; i++)
    {
        if (name.bytes[i] >= '!' && name.bytes[i] <= '~') continue;
        gh_store_reply_error(store, "ERR Client names cannot contain spaces, newlines or special characters.");
        return;
    }
    if (store->link != NULL)
    {
        gh_store_blob_free(store->pool, store->link->name);
        store->link->name = name.size == 0 ? NULL : gh_store_blob_new(store->pool, name);
    }
    gh_store_reply_ok(store);
}

void gh_store_client_getname(gh_store* store)
{
    if (store->link == NULL || store->link->name == NULL) gh_store_reply_null(store);
    else gh_store_reply_text(store, gh_store_blob_text(store->link->name));
}

void gh_store_client_id(gh_store* store)
{
    gh_store_reply_integer(store, store->link == NULL ? 0 : (int64_t)store->link->id);
}

void gh_store_client_list(gh_store* store)
{
    store_buffer text = {NULL, 0, 0, 0};
    const gh_store_link* link;
    for (link = store->first_link; link != NULL; link = link->next)
    {
        char line[128];
        const gh_str name = link->name == NULL ? gh_str_literal("") : gh_store_blob_text(link->name);
        const int size = snprintf(line, sizeof line, "id=%llu name=%.*s db=%u sub=%u\n", (unsigned long long)link->id,
                                  (int)(name.size < 64 ? name.size : 64), name.size == 0 ? "" : name.bytes,
                                  link->database, gh_store_listens_to(link));
        if (!link->is_closed) gh_store_put(&text, line, (size_t)size);
    }
    gh_store_reply_text(store, gh_str_make(text.bytes == NULL ? "" : text.bytes, text.size));
    gh_store_buffer_end(&text);
}

typedef enum kill_by
{
    KILL_NOBODY = 0,
    KILL_BY_ID,
    KILL_BY_TYPE,
    KILL_BY_USER
} kill_by;

static kill_by read_kill(const gh_store* store)
{
    if (store->count != 4) return KILL_NOBODY;
    if (gh_store_is_word(store->words[2], "id")) return KILL_BY_ID;
    if (gh_store_is_word(store->words[2], "type")) return KILL_BY_TYPE;
    return gh_store_is_word(store->words[2], "user") ? KILL_BY_USER : KILL_NOBODY;
}

static bool is_meant(const gh_store_link* link, kill_by by, gh_str word, int64_t id)
{
    switch (by)
    {
    case KILL_BY_ID: return (int64_t)link->id == id;
    case KILL_BY_TYPE: return (gh_store_listens_to(link) > 0) == gh_store_is_word(word, "pubsub");
    case KILL_BY_USER: return link->user != NULL && gh_str_equal(link->user->name, word);
    case KILL_NOBODY:
    default: return false;
    }
}

/* "CLIENT KILL ID n", "... TYPE normal|pubsub", "... USER name"; never the one that says it. */
void gh_store_client_kill(gh_store* store)
{
    const kill_by by = read_kill(store);
    int64_t id = 0;
    int64_t count = 0;
    gh_store_link* link;
    if (by == KILL_NOBODY)
    {
        gh_store_reply_error(store, STORE_SYNTAX);
        return;
    }
    if (by == KILL_BY_ID && (!gh_store_text_integer(store->words[3], &id) || id <= 0))
    {
        gh_store_reply_error(store, "ERR client-id should be greater than 0");
        return;
    }
    if (by == KILL_BY_USER && gh_store_user_find(store, store->words[3]) == NULL)
    {
        gh_store_reply_error(store, "ERR No such user '%.*s'",
                             (int)(store->words[3].size < 64 ? store->words[3].size : 64), store->words[3].bytes);
        return;
    }
    for (link = store->first_link; link != NULL; link = link->next)
    {
        if (!is_meant(link, by, store->words[3], id) || link == store->link || link->is_closed) continue;
        gh_store_link_close(link);
        count++;
    }
    gh_store_reply_integer(store, count);
}

/* ---- the server -------------------------------------------------------------------------------------------------- */

void gh_store_tell_time(gh_store* store)
{
    char text[STORE_NUMBER_SIZE];
    gh_store_reply_array(store, 2);
    gh_store_reply_text(store, gh_str_make(text, gh_store_integer_text((int64_t)(store->now_us / 1000000), text)));
    gh_store_reply_text(store, gh_str_make(text, gh_store_integer_text((int64_t)(store->now_us % 1000000), text)));
}

/* It has no replicas: a world that has some answers in its stead. */
void gh_store_wait(gh_store* store)
{
    int64_t replicas;
    int64_t timeout_ms;
    if (!gh_store_word_integer(store, 1, &replicas)) return;
    if (!gh_store_text_integer(store->words[2], &timeout_ms))
        gh_store_reply_error(store, "ERR timeout is not an integer or out of range");
    else if (timeout_ms < 0) gh_store_reply_error(store, "ERR timeout is negative");
    else gh_store_reply_integer(store, 0);
}

void gh_store_role(gh_store* store)
{
    gh_store_reply_array(store, 3);
    gh_store_reply_text(store, gh_str_literal("master"));
    gh_store_reply_integer(store, 0);
    gh_store_reply_array(store, 0);
}

static bool is_clustered(gh_store* store)
{
    if (store->config.cluster_enabled) return true;
    gh_store_reply_error(store, "ERR This instance has cluster support disabled");
    return false;
}

void gh_store_asking(gh_store* store)
{
    if (!is_clustered(store)) return;
    if (store->link != NULL) store->link->is_asking = true;
    gh_store_reply_ok(store);
}

void gh_store_readonly(gh_store* store)
{
    if (!is_clustered(store)) return;
    if (store->link != NULL) store->link->reads = true;
    gh_store_reply_ok(store);
}

void gh_store_readwrite(gh_store* store)
{
    if (!is_clustered(store)) return;
    if (store->link != NULL) store->link->reads = false;
    gh_store_reply_ok(store);
}

/* Its slots are the business of a world around it. */
void gh_store_cluster(gh_store* store)
{
    if (is_clustered(store)) gh_store_reply_error(store, "CLUSTERDOWN The cluster is down");
}

/* ---- INFO -------------------------------------------------------------------------------------------------------- */

static size_t own_section(const gh_store* store, gh_str section, char* text, size_t size)
{
    int used = 0;
    if (gh_store_is_word(section, "server"))
        used = snprintf(text, size,
                        "# Server\r\nredis_version:%s\r\nredis_mode:%s\r\nrun_id:%s\r\ntcp_port:0\r\n"
                        "server_time_usec:%llu\r\n",
                        store->version, store->config.cluster_enabled ? "cluster" : "standalone", store->run_id,
                        (unsigned long long)store->now_us);
    else if (gh_store_is_word(section, "memory"))
        used = snprintf(text, size, "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
    else if (gh_store_is_word(section, "persistence"))
        used = snprintf(text, size, "# Persistence\r\nloading:%d\r\naof_enabled:%d\r\n",
                        (store->states & GH_STORE_LOADING) != 0, store->config.append_only);
    else if (gh_store_is_word(section, "replication"))
        used =
            snprintf(text, size,
                     "# Replication\r\nrole:%s\r\nconnected_slaves:0\r\nmaster_replid:%s\r\nmaster_repl_offset:0\r\n",
                     (store->states & GH_STORE_READ_ONLY) != 0 ? "slave" : "master", store->history);
    else if (gh_store_is_word(section, "cluster"))
        used = snprintf(text, size, "# Cluster\r\ncluster_enabled:%d\r\n", store->config.cluster_enabled);
    return (size_t)used;
}

static void put_section(const gh_store* store, store_buffer* all, gh_str section)
{
    char text[512];
    gh_str found = {NULL, 0};
    if (store->hooks.info != NULL) found = store->hooks.info(store->hooks.info_context, section);
    if (found.size == 0) found = gh_str_make(text, own_section(store, section, text, sizeof text));
    if (all->size > 0 && found.size > 0) gh_store_put(all, "\r\n", 2);
    gh_store_put(all, found.bytes, found.size);
}

void gh_store_tell_info(gh_store* store)
{
    static const char* const sections[] = {"server", "memory", "persistence", "replication", "cluster"};
    store_buffer all = {NULL, 0, 0, 0};
    const bool is_whole = store->count == 1 || gh_store_is_word(store->words[1], "all") ||
                          gh_store_is_word(store->words[1], "everything") ||
                          gh_store_is_word(store->words[1], "default");
    uint32_t i;
    if (is_whole)
        for (i = 0; i < sizeof sections / sizeof *sections; i++) put_section(store, &all, gh_str_of(sections[i]));
    else
        for (i = 1; i < store->count; i++) put_section(store, &all, store->words[i]);
    gh_store_reply_text(store, gh_str_make(all.bytes == NULL ? "" : all.bytes, all.size));
    gh_store_buffer_end(&all);
}
