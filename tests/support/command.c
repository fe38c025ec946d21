/* command.c -- words split at blanks, begun as commands, awaited and compared. */

#include "support/command.h"

#include <string.h>

#define REPLY_VALUE_SIZE   48u /* command.h: a value below the top */
#define DEFAULT_REPLY_SIZE 1024u

gh_str* words_of(game* owner, const char* line, size_t* count)
{
    size_t size = strlen(line);
    char* copy = GAME_NEW_ARRAY(owner, char, size + 1);
    gh_str* words = GAME_NEW_ARRAY(owner, gh_str, size / 2 + 1);
    memcpy(copy, line, size);
    *count = 0;
    for (char* word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) words[(*count)++] = gh_str_of(word);
    return words;
}

gh_command_config command_config(game* owner, gh_repeat repeat, size_t reply_size)
{
    gh_command_config config = gh_command_config_default();
    config.timeout_us *= suite_patience();
    config.repeat = repeat;
    config.reply_size = reply_size;
    if (reply_size > 0) config.reply_memory = game_new(owner, reply_size);
    return config;
}

gh_command* say(game* from, const gh_command_config* config, const char* line)
{
    size_t count;
    gh_str* words = words_of(from, line, &count);
    gh_command* command = GAME_NEW(from, gh_command);
    gh_command_config usual = command_config(from, GH_REPEAT_NEVER, DEFAULT_REPLY_SIZE);
    assert_status(gh_command_begin(command, from->client, words, count, config == NULL ? &usual : config), GH_OK);
    return command;
}

gh_command* run_script(game* from, const gh_command_config* config, gh_script* script, const char* keys,
                       const char* arguments)
{
    size_t key_count;
    size_t argument_count;
    gh_str* key_words = words_of(from, keys, &key_count);
    gh_str* argument_words = words_of(from, arguments, &argument_count);
    gh_command* command = GAME_NEW(from, gh_command);
    gh_command_config usual = command_config(from, GH_REPEAT_NEVER, DEFAULT_REPLY_SIZE);
    assert_status(gh_script_begin(command, from->client, script, key_words, key_count, argument_words, argument_count,
                                  config == NULL ? &usual : config),
                  GH_OK);
    return command;
}

gh_script* script_new(game* owner, const char* text)
{
    gh_script* script = GAME_NEW(owner, gh_script);
    size_t size = strlen(text);
    char* copy = GAME_NEW_ARRAY(owner, char, size + 1);
    memcpy(copy, text, size);
    script->text = gh_str_make(copy, size);
    return script;
}

gh_lock* command_lock(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = GAME_NEW(from, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = lease_us;
    assert_status(gh_lock_begin(lock, from->client, gh_str_of(name), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    return lock;
}

gh_command_config fenced_config(game* owner, gh_fence fence)
{
    gh_command_config config = command_config(owner, GH_REPEAT_NEVER, DEFAULT_REPLY_SIZE);
    config.fence = fence;
    return config;
}

gh_status settle_command(const gh_command* command)
{
    GAME_UNTIL(gh_op_poll(&command->op) != GH_PENDING);
    return gh_op_poll(&command->op);
}

const char* reply_text(game* owner, const gh_command* command)
{
    const gh_reply* reply = gh_command_reply(command);
    assert_non_null(reply);
    char* text = GAME_NEW_ARRAY(owner, char, reply->text.size + 1);
    memcpy(text, reply->text.bytes, reply->text.size);
    return text;
}

static bool same_elements(const gh_reply* reply, const redisReply* expected)
{
    if (reply->count != expected->elements || (reply->first == NULL) != (reply->count == 0)) return false;
    const gh_reply* element = reply->first;
    for (size_t i = 0; i < expected->elements; i++, element = element->next)
    {
        if (element == NULL || !reply_equals(element, expected->element[i])) return false;
        if (gh_reply_at(reply, (uint32_t)i) != element) return false;
    }
    return element == NULL && gh_reply_at(reply, reply->count) == NULL;
}

bool reply_equals(const gh_reply* reply, const redisReply* expected)
{
    bool same_text = reply->text.size == (expected->str == NULL ? 0 : expected->len) &&
                     (reply->text.size == 0 || memcmp(reply->text.bytes, expected->str, reply->text.size) == 0);
    switch (expected->type)
    {
    case REDIS_REPLY_NIL: return reply->type == GH_REPLY_NIL;
    case REDIS_REPLY_INTEGER: return reply->type == GH_REPLY_INTEGER && reply->integer == expected->integer;
    case REDIS_REPLY_STRING: return reply->type == GH_REPLY_STRING && same_text;
    case REDIS_REPLY_STATUS: return reply->type == GH_REPLY_STATUS && same_text;
    case REDIS_REPLY_ERROR: return reply->type == GH_REPLY_ERROR && same_text;
    case REDIS_REPLY_ARRAY: return reply->type == GH_REPLY_ARRAY && same_elements(reply, expected);
    default: return false;
    }
}

static size_t text_size_of(const redisReply* reply)
{
    bool has_text =
        reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS || reply->type == REDIS_REPLY_ERROR;
    if (!has_text || (reply->len == 2 && memcmp(reply->str, "OK", 2) == 0)) return 0;
    return (reply->len + 7) / 8 * 8; /* every piece is aligned to 8 */
}

size_t reply_size_of(const redisReply* reply)
{
    size_t size = text_size_of(reply);
    if (reply->type != REDIS_REPLY_ARRAY) return size;
    for (size_t i = 0; i < reply->elements; i++) size += REPLY_VALUE_SIZE + reply_size_of(reply->element[i]);
    return size;
}
