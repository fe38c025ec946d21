/* liar.c -- a script's text in a function, and behind it what changes the function's answer. */

#include "support/faults/liar.h"

#include <stdio.h>

static const char front[] = "local answer = (function() ";

/* In all databases the notes lie in number 0, which the drill empties before each run: so they are made by it. */
static const char tail[] = /* of printf */
    "\nend)() "
    "local name, is_text, words = '%s', type(answer) == 'string', answer "
    "if is_text then words = {} for word in string.gmatch(answer, '[^ ]+') do words[#words + 1] = word end end "
    "if type(words) ~= 'table' then return answer end "
    "local seen = tonumber(redis.call('GET', 'liar:elements:' .. name) or '0') "
    "if #words > seen then redis.call('SET', 'liar:elements:' .. name, #words) end "
    "local lie = redis.call('GET', 'liar:lie:' .. name) "
    "if not lie then return answer end "
    "redis.call('DEL', 'liar:lie:' .. name) "
    "local kind, place, value = string.match(lie, '^(%%a) (%%d+) (.*)$') "
    "place = tonumber(place) "
    "if kind == 'n' then words[place] = is_text and value or tonumber(value) end "
    "if kind == 't' then words[place] = value end "
    "if kind == 's' then for i = #words + 1, place do words[i] = is_text and '0' or 0 end "
    "for i = #words, place + 1, -1 do words[i] = nil end end "
    "if kind == 'f' then return is_text and words or tostring(words[1]) .. ' 0' end "
    "return is_text and table.concat(words, ' ') or words";

bool liar_install(drill* self, half_script script)
{
    char behind[sizeof(tail) + 64];
    size_t size = 0;
    snprintf(behind, sizeof(behind), tail, script.name);
    const char* text = half_text_between(script, front, behind, &size);
    return half_install_text(self, script, text, size);
}

unsigned liar_elements(drill* self, half_script script)
{
    if (redis_server_integer(self->server, "EXISTS liar:elements:%s", script.name) == 0) return 0;
    long long count = redis_server_integer(self->server, "INCRBY liar:elements:%s 0", script.name);
    return count > LIAR_ELEMENTS_MAX ? LIAR_ELEMENTS_MAX : (unsigned)count;
}

void liar_prepare(drill* self, half_script script, unsigned element, long long number)
{
    char lie[64];
    snprintf(lie, sizeof(lie), "n %u %lld", element, number);
    redis_server_do(self->server, "SET liar:lie:%s %s", script.name, lie);
}

void liar_prepare_text(drill* self, half_script script, unsigned element, const char* text)
{
    char lie[512];
    snprintf(lie, sizeof(lie), "t %u %s", element, text);
    redis_server_do(self->server, "SET liar:lie:%s %s", script.name, lie);
}

void liar_prepare_size(drill* self, half_script script, unsigned elements)
{
    char lie[64];
    snprintf(lie, sizeof(lie), "s %u -", elements);
    redis_server_do(self->server, "SET liar:lie:%s %s", script.name, lie);
}

void liar_prepare_form(drill* self, half_script script)
{
    redis_server_do(self->server, "SET liar:lie:%s %s", script.name, "f 0 -");
}

bool liar_has_lied(drill* self, half_script script)
{
    return redis_server_integer(self->server, "EXISTS liar:lie:%s", script.name) == 0;
}
