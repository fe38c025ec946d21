/* chat_list.c -- the chats of a player: first the names from its own list, then each chat is asked.

       LISTING --> LOOKING (a chat) --> LOOKING (the next) --> ... --> ended
                      '-- is not in it --> MENDING (its list) --' */

#include "chat_read.h"
#include "client/object.h"
#include "wire/name.h"

#define CHAT_LIST_PAGE 48u /* names in one reply: fewer than the least of reply_nodes */

typedef enum chat_list_state
{
    CHAT_LISTING = 1,
    CHAT_LOOKING,
    CHAT_MENDING
} chat_list_state;

static gh_chat_list* chat_list_of(gh_op* op)
{
    return (gh_chat_list*)(void*)op;
}

static gh_script* chat_list_script(gh_op* op)
{
    const gh_script_text* text = op->state == CHAT_LISTING   ? &gh_chats_list_lua
                                 : op->state == CHAT_LOOKING ? &gh_chat_read_lua
                                                             : &gh_chats_remove_lua;
    return gh_client_script(op->client, text);
}

static void encode_look(gh_op* op, gh_request* request)
{
    const gh_chat_list* list = chat_list_of(op);
    gh_chat_question question;
    memset(&question, 0, sizeof question);
    question.chat = list->items[list->looked_at].name;
    question.pairs = 1;
    gh_chat_encode_read(op, request, &question);
    gh_request_str(request, gh_name_str(&list->player));
    gh_request_number(request, 0);
}

static void chat_list_encode(gh_op* op, gh_request* request)
{
    const gh_chat_list* list = chat_list_of(op);
    switch ((chat_list_state)op->state)
    {
    case CHAT_LISTING:
        gh_chat_encode_list(op, request, gh_name_str(&list->player), list->place, CHAT_LIST_PAGE, 0);
        break;
    case CHAT_LOOKING: encode_look(op, request); break;
    case CHAT_MENDING:
        gh_chat_encode_remove(op, request, gh_name_str(&list->player), list->items[list->looked_at].name, 0);
        break;
    }
}

static gh_status chat_list_go(gh_chat_list* list, chat_list_state state)
{
    list->op.state = (uint8_t)state;
    gh_op_send(&list->op, 0);
    return GH_PENDING;
}

/* The next chat; or, if some were stale, those that have room in their place; or the end. */
static gh_status chat_list_look(gh_chat_list* list)
{
    if (list->looked_at < list->count) return chat_list_go(list, CHAT_LOOKING);
    if (list->needed > 0 && list->count < list->capacity && list->names_read < GH_CHAT_LIST_MAX)
        return chat_list_go(list, CHAT_LISTING);
    if (list->needed > 0) return GH_TOO_SMALL;
    return list->count > 0 ? GH_OK : GH_EMPTY;
}

static gh_status chat_list_names(gh_chat_list* list, const gh_reply* reply)
{
    uint64_t total = (uint64_t)gh_reply_integer(reply, GH_CHATS_LIST_CHATS);
    const gh_reply* name = gh_reply_at(reply, GH_CHATS_LIST_NAMES);
    bool page_is_empty = name == NULL;
    for (; name != NULL && list->count < list->capacity; name = name->next)
    {
        gh_chat_item* item = &list->items[list->count];
        list->place++;
        list->names_read++;
        if (name->type != GH_REPLY_STRING || !gh_name_is_valid(name->text)) continue; /* not of our making */
        memset(item, 0, sizeof *item);
        memcpy(item->name_bytes, name->text.bytes, name->text.size);
        item->name = gh_str_make(item->name_bytes, name->text.size);
        list->count++;
    }
    if (total > list->place && list->names_read < GH_CHAT_LIST_MAX && list->count < list->capacity && !page_is_empty)
        return chat_list_go(list, CHAT_LISTING);
    list->needed = total > list->place && list->count == list->capacity ? (uint32_t)total : 0;
    return chat_list_look(list);
}

/* The chat does not know the player, or nobody knows the chat: the items behind it move up, and in the player's list
   the names, if its own has gone from there. */
static void chat_list_drop(gh_chat_list* list, const gh_reply* reply)
{
    uint32_t i;
    if (gh_reply_integer(reply, GH_CHATS_REMOVE_CODE) == GH_CHATS_REMOVE_REMOVED) list->place--;
    for (i = list->looked_at; i + 1 < list->count; i++)
    {
        list->items[i] = list->items[i + 1];
        list->items[i].name.bytes = list->items[i].name_bytes;
    }
    list->count--;
}

static gh_status chat_list_looked(gh_chat_list* list, const gh_reply* reply)
{
    gh_chat_item* item = &list->items[list->looked_at];
    const gh_reply* seen = gh_reply_at(reply, GH_CHAT_READ_SEEN);
    gh_chat_figures figures;
    bool is_gone = gh_reply_integer(reply, GH_CHAT_READ_CODE) == GH_CHAT_READ_GONE;
    if (!is_gone && (!gh_chat_read_figures(reply, &figures) || !gh_chat_is_seen(seen, figures.last_id)))
        return gh_op_outcome(&list->op, GH_REASON_UNUSABLE);
    if (is_gone || seen->integer < 0) return chat_list_go(list, CHAT_MENDING);
    item->epoch = figures.epochs.present;
    item->last_id = figures.last_id;
    item->seen = (uint64_t)seen->integer;
    item->unread = figures.last_id + 1 - (item->seen >= figures.first_id ? item->seen + 1 : figures.first_id);
    list->looked_at++;
    return chat_list_look(list);
}

static gh_status chat_list_answer(gh_op* op, const gh_event* event)
{
    gh_chat_list* list = chat_list_of(op);
    switch ((chat_list_state)op->state)
    {
    case CHAT_LISTING: return chat_list_names(list, event->reply);
    case CHAT_LOOKING: return chat_list_looked(list, event->reply);
    case CHAT_MENDING: chat_list_drop(list, event->reply); break;
    }
    return chat_list_look(list);
}

static const gh_op_kind chat_list_kind = {.name = "chat",
                                          .step = gh_call_step,
                                          .encode = chat_list_encode,
                                          .script = chat_list_script,
                                          .effect = GH_OP_READS,
                                          .trees = gh_tree_read,
                                          .answer = chat_list_answer};

static const gh_bound chat_list_bounds_rows[] = {GH_BOUND_TIMEOUT(gh_chat_list_config)};
static const gh_bounds chat_list_bounds = GH_BOUNDS(gh_chat_list_config, chat_list_bounds_rows);

gh_chat_list_config gh_chat_list_config_default(void)
{
    gh_chat_list_config config;
    gh_bounds_fill(&chat_list_bounds, &config);
    return config;
}

static gh_status chat_list_try(gh_chat_list* op, gh_client* client, gh_str player, gh_chat_item* items, size_t capacity,
                               const gh_chat_list_config* config)
{
    gh_chat_list_config defaults = gh_chat_list_config_default();
    gh_status status;
    if (config == NULL) config = &defaults;
    status = gh_named_check((gh_op*)op, client, player, &chat_list_bounds, config);
    if (status != GH_OK) return status;
    if (items == NULL || capacity == 0) return GH_INVALID_BUFFER;
    op->count = 0;
    op->needed = 0;
    gh_name_keep(&op->player, player);
    op->items = items;
    op->capacity = capacity > GH_CHAT_LIST_MAX ? GH_CHAT_LIST_MAX : (uint32_t)capacity;
    op->looked_at = op->place = op->names_read = 0;
    gh_op_begin(&op->op, client, &chat_list_kind);
    gh_op_timer_after(&op->op, config->timeout_us);
    chat_list_go(op, CHAT_LISTING);
    return GH_OK;
}

gh_status gh_chat_list_begin(gh_chat_list* op, gh_client* client, gh_str player, gh_chat_item* items, size_t capacity,
                             const gh_chat_list_config* config)
{
    return gh_op_begun((gh_op*)op, client, chat_list_try(op, client, player, items, capacity, config));
}
