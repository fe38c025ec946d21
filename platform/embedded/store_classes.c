/* store_classes.c -- the classes of commands that rules of users name, "+@read": those of a server, as far as the store
   knows the commands. */

#include "store_commands.h"

typedef struct class_of
{
    const char* name;
    const char* commands; /* with blanks between them, and around all */
} class_of;

static const class_of classes[] = {
    {"keyspace", " dbsize del exists expire expireat flushall flushdb keys persist pexpire pexpireat pexpiretime "
                 "pttl scan ttl type unlink "},
    {"read", " dbsize exists get hexists hget hgetall hkeys hlen hmget hrandfield hscan hstrlen hvals keys "
             "lindex llen lrange mget pexpiretime pttl scan scard sismember smembers sscan strlen ttl type "
             "zcard zcount zlexcount zmscore zrange zrangebylex zrangebyscore zrank zrevrange zrevrangebylex "
             "zrevrangebyscore zrevrank zscan zscore "},
    {"write", " append decr decrby del expire expireat flushall flushdb getdel hdel hincrby hmset hset hsetnx "
              "incr incrby linsert lpop lpush lpushx lrem lset ltrim mset persist pexpire pexpireat rpop rpush "
              "rpushx sadd set setnx srem unlink zadd zincrby zpopmax zpopmin zrem zremrangebylex "
              "zremrangebyrank zremrangebyscore "},
    {"set", " sadd scard sismember smembers srem sscan "},
    {"sortedset", " zadd zcard zcount zincrby zlexcount zmscore zpopmax zpopmin zrange zrangebylex zrangebyscore "
                  "zrank zrem zremrangebylex zremrangebyrank zremrangebyscore zrevrange zrevrangebylex "
                  "zrevrangebyscore zrevrank zscan zscore "},
    {"list", " lindex linsert llen lpop lpush lpushx lrange lrem lset ltrim rpop rpush rpushx "},
    {"hash", " hdel hexists hget hgetall hincrby hkeys hlen hmget hmset hrandfield hscan hset hsetnx hstrlen "
             "hvals "},
    {"string", " append decr decrby get getdel incr incrby mget mset set setnx strlen "},
    {"pubsub", " psubscribe publish punsubscribe spublish ssubscribe subscribe sunsubscribe unsubscribe "},
    {"admin", " acl|deluser acl|setuser client|kill client|list role "},
    {"fast", " append asking auth dbsize decr decrby echo exists expire expireat get getdel hdel hello hexists "
             "hget hincrby hlen hmget hmset hset hsetnx hstrlen incr incrby llen lpop lpush lpushx mget "
             "persist pexpire pexpireat pexpiretime ping pttl publish quit readonly readwrite reset role rpop "
             "rpush rpushx sadd scard select setnx sismember spublish srem strlen time ttl type unlink zadd "
             "zcard zcount zincrby zlexcount zmscore zpopmax zpopmin zrank zrem zrevrank zscore "},
    {"slow", " acl|deluser acl|setuser acl|whoami client|getname client|id client|kill client|list "
             "client|setname cluster del eval evalsha flushall flushdb hgetall hkeys hrandfield hscan hvals "
             "info keys lindex linsert lrange lrem lset ltrim mset psubscribe punsubscribe scan script|exists "
             "script|flush script|kill script|load set smembers sscan ssubscribe subscribe sunsubscribe "
             "unsubscribe wait zrange zrangebylex zrangebyscore zremrangebylex zremrangebyrank "
             "zremrangebyscore zrevrange zrevrangebylex zrevrangebyscore zscan "},
    {"dangerous", " acl|deluser acl|setuser client|kill client|list flushall flushdb info keys role "},
    {"connection", " asking auth client|getname client|id client|kill client|list client|setname echo hello ping "
                   "quit readonly readwrite reset select wait "},
    {"scripting", " eval evalsha script|exists script|flush script|kill script|load "},
    {"bitmap", " "},
    {"hyperloglog", " "},
    {"geo", " "},
    {"stream", " "},
    {"blocking", " "},
    {"transaction", " "}};

const char* gh_store_class(gh_str name)
{
    size_t i;
    for (i = 0; i < sizeof classes / sizeof *classes; i++)
        if (gh_store_is_word(name, classes[i].name)) return classes[i].commands;
    return NULL;
}

bool gh_store_class_has(const char* commands, const char* name)
{
    const size_t size = strlen(name);
    const char* at = commands;
    while ((at = strstr(at, name)) != NULL)
    {
        if (at[-1] == ' ' && at[size] == ' ') return true;
        at += size;
    }
    return false;
}
