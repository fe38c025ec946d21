/* odd.c -- a peer that answers by a line of text. */

#include "support/server/odd.h"

#include <stdio.h>
#include <string.h>

#define MS       UINT64_C(1000)
#define TEXT_MAX 2048

static void add_string(byte_buffer* reply, const char* bytes, size_t size)
{
    char head[32];
    buffer_add(reply, head, (size_t)snprintf(head, sizeof(head), "$%zu\r\n", size));
    buffer_add(reply, bytes, size);
    buffer_add(reply, "\r\n", 2);
}

static void add_value(byte_buffer* reply, const char* text, size_t size)
{
    char bytes[TEXT_MAX];
    if (*text != '$')
    {
        buffer_add(reply, *text == '_' ? "$-1" : text, *text == '_' ? 3 : size);
        buffer_add(reply, "\r\n", 2);
        return;
    }
    assert_true(size <= sizeof(bytes));
    for (size_t i = 1; i < size; i++) bytes[i - 1] = (char)(text[i] == '^' ? 0 : text[i]);
    add_string(reply, bytes, size - 1);
}

static void add_array(byte_buffer* reply, const char* text, uint64_t sequence)
{
    const bool has_sequence = *text == 'q';
    char head[64];
    unsigned count = has_sequence;
    text++;
    if (*text != 0) count++;
    for (const char* at = text; *at != 0; at++) count += *at == '|';
    buffer_add(reply, head, (size_t)snprintf(head, sizeof(head), "*%u\r\n", count));
    if (has_sequence)
        buffer_add(reply, head, (size_t)snprintf(head, sizeof(head), ":%llu\r\n", (unsigned long long)sequence));
    while (*text != 0)
    {
        const size_t size = strcspn(text, "|");
        add_value(reply, text, size);
        text += size + (text[size] == '|');
    }
}

static void add_answer(byte_buffer* reply, const char* text, uint64_t sequence)
{
    if (*text == 't') buffer_add_bulk(reply, "%llu %s", (unsigned long long)sequence, text + 1);
    else if (*text == '=') add_value(reply, text + 1, strlen(text + 1));
    else if (*text != 0) add_array(reply, text, sequence);
}

static bool tell(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    odd* self = world->context;
    if (self->op == NULL || gh_str_equal(words[0], gh_str_literal("SCRIPT"))) return false;
    if (gh_str_equal(words[0], gh_str_literal("WAIT"))) return false;
    if (count > 3 && words[3].size > 9 && memcmp(words[3].bytes, "gh:{lock:", 9) == 0) return false;
    self->asked++;
    if (gh_str_equal(words[0], gh_str_literal("HGET")))
    {
        if (self->chunk.bytes == NULL) add_value(reply, "_", 1);
        else if (*self->chunk.bytes == '=') add_value(reply, self->chunk.bytes + 1, self->chunk.size - 1);
        else add_string(reply, self->chunk.bytes, self->chunk.size);
        return true;
    }
    add_answer(reply, self->answers[self->told], self->op->sequence);
    if (self->told + 1 < ODD_ANSWERS_MAX && self->answers[self->told + 1] != NULL) self->told++;
    return true;
}

odd* odd_start(const gh_client_config* config)
{
    scripted* world = scripted_new();
    scripted_start_ready(world, config);
    odd* self = SCRIPTED_NEW(world, odd);
    self->world = world;
    world->context = self;
    world->answer = tell;
    return self;
}

void odd_say(odd* self, const gh_op* op, const char* first, const char* second, const char* third)
{
    self->op = op;
    self->told = 0;
    self->answers[0] = first;
    self->answers[1] = second;
    self->answers[2] = third;
}

void odd_wait(odd* self, unsigned ms)
{
    for (unsigned i = 0; i < ms; i++) scripted_tick(self->world, MS);
}

gh_status odd_told_many(odd* self, const gh_op* op, const char* first, const char* second, const char* third)
{
    odd_say(self, op, first, second, third);
    SCRIPTED_UNTIL(self->world, !gh_op_is_busy(op), MS, 10 * SECOND_US);
    self->op = NULL;
    assert_int_equal(scripted_stats(self->world).links_lost, 0);
    return gh_op_poll(op);
}

gh_status odd_told(odd* self, const gh_op* op, const char* answer)
{
    return odd_told_many(self, op, answer, NULL, NULL);
}
