/* gh_scripts.h -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#ifndef GH_SCRIPTS_H
#define GH_SCRIPTS_H

#define GH_SCRIPT_LIST(X) \
    X(aggregate_add) \
    X(aggregate_read) \
    X(aggregate_stage) \
    X(chat_create) \
    X(chat_join) \
    X(chat_leave) \
    X(chat_read) \
    X(chat_roster) \
    X(chat_send) \
    X(chats_add) \
    X(chats_list) \
    X(chats_remove) \
    X(epoch) \
    X(rights) \
    X(command) \
    X(command_once) \
    X(fenced) \
    X(contacts_load) \
    X(contacts_remove) \
    X(contacts_touch) \
    X(counters_clean) \
    X(counters_flush) \
    X(counters_lease) \
    X(counters_read) \
    X(files_chunk) \
    X(files_list) \
    X(files_look) \
    X(files_open) \
    X(files_read) \
    X(files_remove) \
    X(files_reserve) \
    X(files_seal) \
    X(files_withdraw) \
    X(guild_join) \
    X(guild_leave) \
    X(lock_acquire) \
    X(lock_look) \
    X(lock_release) \
    X(lock_renew) \
    X(mailbox_commit) \
    X(mailbox_fetch) \
    X(mailbox_push) \
    X(rows_claim) \
    X(rows_finish) \
    X(rows_get) \
    X(rows_renew) \
    X(rows_schedule) \
    X(rows_unschedule) \
    X(semaphore_acquire) \
    X(semaphore_limit) \
    X(semaphore_look) \
    X(semaphore_refresh) \
    X(semaphore_release) \
    X(tasks_back) \
    X(tasks_cancel) \
    X(tasks_control) \
    X(tasks_count) \
    X(tasks_dead) \
    X(tasks_finish) \
    X(tasks_look) \
    X(tasks_push) \
    X(tasks_renew) \
    X(tasks_requeue) \
    X(tasks_take)

#define GH_COMMAND_LIST(X) \
    X(DEL) \
    X(EXISTS) \
    X(GET) \
    X(HDEL) \
    X(HEXISTS) \
    X(HGET) \
    X(HGETALL) \
    X(HLEN) \
    X(HMGET) \
    X(HRANDFIELD) \
    X(HSET) \
    X(HSTRLEN) \
    X(LINDEX) \
    X(LINSERT) \
    X(LLEN) \
    X(LPUSH) \
    X(LRANGE) \
    X(LREM) \
    X(LSET) \
    X(LTRIM) \
    X(PERSIST) \
    X(PEXPIRE) \
    X(PEXPIREAT) \
    X(PTTL) \
    X(RPUSH) \
    X(SET) \
    X(TIME) \
    X(TYPE) \
    X(UNLINK) \
    X(ZADD) \
    X(ZCARD) \
    X(ZCOUNT) \
    X(ZLEXCOUNT) \
    X(ZMSCORE) \
    X(ZRANGE) \
    X(ZRANGEBYLEX) \
    X(ZRANGEBYSCORE) \
    X(ZRANK) \
    X(ZREM) \
    X(ZREMRANGEBYRANK) \
    X(ZREVRANGE) \
    X(ZREVRANGEBYSCORE) \
    X(ZSCAN) \
    X(ZSCORE)

#define GH_SCRIPT_CODES 991
#define GH_SCRIPT_WIDTHS 2, 4, 5, 5, 6, 7, 8, 9

#endif
