/* tasks_handlers.c -- handlers by name, in a table that lies in the caller's array: each place begins one
   chain and is part of one, so it needs no memory of its own and is as large as there are handlers. */

#include "base/hash.h"
#include "tasks_place.h"
#include "tasks/task_text.h"

static uint64_t handler_hash(const gh_client* client, gh_str name)
{
    return gh_hash_seeded(name.bytes, name.size, gh_client_id(client));
}

static gh_task_handler* handler_find(const gh_tasks_worker_config* config, gh_str name, uint64_t hash)
{
    uint32_t place = config->handlers[hash % config->handler_count].first;
    while (place != 0)
    {
        gh_task_handler* handler = &config->handlers[place - 1];
        if (handler->hash == hash && gh_str_equal(handler->name, name)) return handler;
        place = handler->next;
    }
    return NULL;
}

/* Puts them into the table, one by one; refuses a second one of a name. */
bool gh_task_handlers_set_up(const gh_tasks_worker_config* config, const gh_client* client)
{
    uint32_t i;
    for (i = 0; i < config->handler_count; i++) config->handlers[i].first = config->handlers[i].next = 0;
    for (i = 0; i < config->handler_count; i++)
    {
        gh_task_handler* handler = &config->handlers[i];
        gh_task_handler* head;
        if (handler->function == NULL || !gh_task_bytes_fit(handler->name, GH_NAME_SIZE_MAX)) return false;
        handler->hash = handler_hash(client, handler->name);
        if (handler_find(config, handler->name, handler->hash) != NULL) return false;
        head = &config->handlers[handler->hash % config->handler_count];
        handler->next = head->first;
        head->first = i + 1;
    }
    return true;
}

gh_task_handler* gh_task_handlers_find(const gh_tasks_worker_config* config, const gh_client* client, gh_str name)
{
    gh_task_handler* handler = handler_find(config, name, handler_hash(client, name));
    gh_str any = gh_str_literal("");
    return handler != NULL ? handler : handler_find(config, any, handler_hash(client, any));
}

bool gh_task_set_result(gh_task* task, gh_str result)
{
    if (task == NULL || task->memory == NULL || !gh_task_bytes_fit(result, GH_TASK_RESULT_SIZE_MAX) ||
        result.size > task->memory_size - task->memory_used)
        return false;
    if (result.size > 0) memmove(task->memory + task->memory_used, result.bytes, result.size);
    task->result = gh_str_make(task->memory + task->memory_used, result.size);
    return true;
}
