/* ops_commands.c -- callers' own commands and scripts. */

#include "ops.h"

#include "request_check.h"

#include <stdio.h>

static gh_command_config draw_config(ops_place* place, fuzz_input* input)
{
    gh_command_config config = gh_command_config_default();
    config.timeout_us = ops_time(input, config.timeout_us);
    config.repeat = (gh_repeat)fuzz_below(input, 3);
    if (fuzz_byte(input) > 224) config.fence.name = ops_name(place, input);
    if (config.fence.name.size > 0) config.fence.fence = ops_vary(input, 7);
    OPS_VARY(input, config.wait_replicas, uint8_t);
    config.reply_memory = ops_room(place, input, 512, &config.reply_size);
    return config;
}

static gh_str* draw_words(ops_place* place, fuzz_input* input, size_t count, const char* first)
{
    gh_str* words = OPS_LEND_ARRAY(place, gh_str, count);
    for (size_t i = 0; i < count; i++)
        words[i] = i == 0 && first != NULL ? gh_str_of(first) : ops_lent_text(place, input, 70);
    return words;
}

static gh_status command_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    static const char* const names[] = {"GET", "SET", "HGETALL", "LRANGE", "ZADD", "SUBSCRIBE", "get"};
    const gh_command_config config = draw_config(place, input);
    const size_t count = ops_count(input, 5), there = count > 6 ? 0 : count;
    gh_str* words = draw_words(place, input, there, names[fuzz_below(input, FUZZ_COUNT(names))]);
    const gh_status status = gh_command_begin(OPS_OP(place, gh_command), client, words, there, &config);
    if (status == GH_OK) request_expect(words, there);
    return status;
}

static gh_status script_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    static const char* const texts[] = {"return 7", "return {1, {2, 'x'}}", "local x = KEYS[1]\nreturn x", ""};
    const gh_command_config config = draw_config(place, input);
    const size_t keys = fuzz_below(input, 4), arguments = fuzz_below(input, 4);
    gh_script* script = OPS_LEND(place, gh_script);
    script->text = gh_str_of(texts[fuzz_below(input, FUZZ_COUNT(texts))]);
    gh_str* key = draw_words(place, input, keys, NULL);
    gh_str* argument = draw_words(place, input, arguments, NULL);
    return gh_script_begin(OPS_OP(place, gh_command), client, script, key, keys, argument, arguments, &config);
}

/* The values, as gh_command_begin would have them as words. */
static gh_status format_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_command_config config = draw_config(place, input);
    const gh_str key = ops_lent_name(place, input), value = ops_lent_text(place, input, 300);
    const long long number = (long long)fuzz_edge(input);
    char* text = ops_lend(place, 32);
    gh_str* words = OPS_LEND_ARRAY(place, gh_str, 4);
    snprintf(text, 32, "%lld", number);
    words[0] = gh_str_literal("HSET");
    words[1] = key;
    words[2] = gh_str_of(text);
    words[3] = value;
    const gh_status status =
        gh_command_format(OPS_OP(place, gh_command_line), client, &config, "HSET %b %lld %b", key, number, value);
    if (status == GH_OK) request_expect(words, 4);
    return status;
}

static void touch_reply(const gh_reply* reply)
{
    fuzz_touch(reply->text);
    uint32_t count = 0;
    for (const gh_reply* each = reply->first; each != NULL; each = each->next, count++) touch_reply(each);
    if (reply->type == GH_REPLY_ARRAY) FUZZ_MUST(count == reply->count);
}

static void command_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_command* command = (const gh_command*)place->op;
    const gh_reply* reply = gh_command_reply(command);
    const gh_status status = gh_op_poll(&command->op);
    (void)client;
    (void)input;
    FUZZ_MUST((reply != NULL) == (status == GH_OK || status == GH_ERROR || status == GH_UNREPLICATED));
    if (reply != NULL) touch_reply(reply);
    if (reply != NULL) FUZZ_MUST((reply->type == GH_REPLY_ERROR) == (status == GH_ERROR));
}

const ops_kind ops_commands[] = {
    {"command", command_begin, command_use, NULL},
    {"script", script_begin, command_use, NULL},
    {"formatted", format_begin, command_use, NULL},
    {NULL, NULL, NULL, NULL},
};
