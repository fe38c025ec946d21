/* task_text.c -- a task as the text that the scripts answer, and as the arguments that they take. */

#include "tasks/task_text.h"

#include "wire/name.h"

/* A decimal number of at most 9 digits with `end` behind it. */
static bool task_text_number(gh_str* rest, char end, uint32_t* number)
{
    size_t i = 0;
    *number = 0;
    for (; i < rest->size && i < 10 && rest->bytes[i] >= '0' && rest->bytes[i] <= '9'; i++)
        *number = *number * 10 + (uint32_t)(rest->bytes[i] - '0');
    if (i == 0 || i > 9 || i == rest->size || rest->bytes[i] != end) return false;
    rest->bytes += i + 1;
    rest->size -= i + 1;
    return true;
}

bool gh_task_text_parse(gh_str stored, gh_task_text* task)
{
    uint32_t handler_size;
    uint32_t group_size = 0;
    if (!task_text_number(&stored, ' ', &task->task_class) || !task_text_number(&stored, ' ', &task->attempts_max))
        return false;
    if (!task_text_number(&stored, ':', &handler_size) &&
        !(task_text_number(&stored, ' ', &handler_size) && task_text_number(&stored, ':', &group_size)))
        return false;
    if (handler_size > GH_NAME_SIZE_MAX || group_size > GH_NAME_SIZE_MAX) return false;
    if (handler_size + group_size > stored.size) return false;
    task->group = gh_str_make(stored.bytes, group_size);
    stored = gh_str_make(stored.bytes + group_size, stored.size - group_size);
    task->handler = gh_str_make(stored.bytes, handler_size);
    task->payload = gh_str_make(stored.bytes + handler_size, stored.size - handler_size);
    return true;
}

void gh_request_task(gh_request* request, const gh_task_text* task)
{
    char head[GH_TASK_TEXT_HEADER_MAX + 2 * GH_NAME_SIZE_MAX + 24];
    char* end = gh_decimal_encode(task->task_class, head);
    *end++ = ' ';
    end = gh_decimal_encode(task->attempts_max, end);
    *end++ = ' ';
    end = gh_decimal_encode(task->handler.size, end);
    if (task->group.size > 0)
    {
        *end++ = ' ';
        end = gh_decimal_encode(task->group.size, end);
    }
    *end++ = ':';
    if (task->group.size > 0) memcpy(end, task->group.bytes, task->group.size);
    end += task->group.size;
    if (task->handler.size > 0) memcpy(end, task->handler.bytes, task->handler.size);
    end += task->handler.size;
    gh_request_joined(request, gh_str_make(head, (size_t)(end - head)), task->payload);
}

void gh_request_task_receipt(gh_request* request, uint32_t attempt, uint64_t fence, uint64_t client, uint64_t sequence)
{
    char text[2 * (GH_DECIMAL_SIZE_MAX + 1) + GH_TOKEN_SIZE];
    char* end = gh_decimal_encode(attempt, text);
    *end++ = ' ';
    end = gh_decimal_encode(fence, end);
    *end++ = ' ';
    end = gh_token_encode(client, sequence, end);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

/* Without leading zeros: ids are stored many times. */
static char* task_short_hex(uint64_t value, char* out)
{
    char digits[GH_HEX_SIZE];
    size_t first = 0;
    gh_hex_encode(value, digits);
    while (first < 15 && digits[first] == '0') first++;
    memcpy(out, digits + first, 16 - first);
    return out + 16 - first;
}

size_t gh_task_make_id(uint64_t client, uint64_t sequence, uint32_t place, char* out)
{
    char* end = gh_hex_encode(client, out);
    *end++ = '-';
    end = task_short_hex(sequence, end);
    if (place > 0)
    {
        *end++ = '.';
        end = task_short_hex(place, end);
    }
    return (size_t)(end - out);
}
