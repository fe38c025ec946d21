/* replicas.c -- the second nodes, their links, and the WAIT that goes over these: client/replicas.h has the drawing. */

#include "replicas_ops.h"

#include "guildhall/replicas.h"

#include "base/least.h"
#include "client/link.h"
#include "wire/name.h"

#define SLICE_US 50000ull /* of a wait; the server looks at its end ten times a second */

/* ---- two nodes a server ------------------------------------------------------------------------------------------ */

static void seconds_init(gh_client* client)
{
    const gh_node* end = client->nodes_end;
    gh_node* main = client->nodes;
    for (; main < end; main++)
    {
        gh_node* second = main + client->servers;
        second->client = client;
        second->main = main;
        main->second = second;
        gh_link_init(&second->link, GH_LOG_COMMAND_LINK, "replicas' link: ", &client->target);
    }
    client->nodes_end += client->servers;
}

static uint32_t second_place(const gh_op* op, uint32_t place)
{
    const uint32_t servers = op->client->servers;
    const uint32_t first = place < servers ? place : place - servers;
    return gh_replicas_of(op) == 0 ? first : first + servers;
}

static bool main_is_ready(const gh_node* second)
{
    return second->main->link.state == GH_LINK_READY && !second->main->leaving;
}

/* It has no life of its own: with the first one's connection it goes, and comes again beside the next. */
static void second_follow(gh_node* second)
{
    gh_link* link = &second->link;
    const gh_node* main = second->main;
    second->store_offset_us = main->store_offset_us;
    if (!gh_link_is_open(link)) return;
    if (gh_link_is_open(&main->link) && main->link.generation == second->beside)
    {
        if (main->leaving) gh_pipeline_leave(second);
        return;
    }
    gh_pipeline_lose(second, GH_LOG_INFO, "the command link beside it is gone");
    link->failures = 0;
    link->due_us = second->client->now_us;
}

static bool second_find(gh_node* second)
{
    if (!main_is_ready(second) || !gh_node_has_unsent(second)) return false;
    second->beside = second->main->link.generation;
    second->link.target = second->main->link.target;
    return true;
}

/* ---- in front of the config's topology --------------------------------------------------------------------------- */

static void seconds_move(gh_client* client)
{
    gh_node* second;
    if (client->beneath != NULL) client->beneath->move(client);
    for (second = client->nodes + client->servers; second < client->nodes_end; second++) second_follow(second);
}

static uint64_t seconds_due(const gh_client* client)
{
    const gh_node* node = client->nodes;
    uint64_t due_us = GH_FOREVER;
    if (client->beneath != NULL) due_us = client->beneath->due_us(client);
    else if (gh_link_is_due(&node->link, client)) due_us = client->now_us;
    for (node += client->servers; node < client->nodes_end; node++)
        if (gh_link_is_due(&node->link, client) && main_is_ready(node) && gh_node_has_unsent(node))
            due_us = client->now_us;
    return due_us;
}

static bool seconds_find(gh_node* node)
{
    const struct gh_topology* beneath = node->client->beneath;
    if (node->main != NULL) return second_find(node);
    return beneath == NULL || beneath->find(node);
}

static uint32_t seconds_known(const gh_client* client)
{
    return client->beneath == NULL ? 1 : client->beneath->known(client);
}

static gh_link* seconds_link(gh_client* client, uint32_t n)
{
    return client->beneath == NULL ? NULL : client->beneath->link(client, n);
}

static void seconds_route(gh_op* op)
{
    if (op->client->many_servers) op->client->beneath->route(op);
}

static uint32_t seconds_place(const gh_client* client, uint16_t route)
{
    return client->many_servers ? client->beneath->place(client, route) : 0;
}

static void seconds_redirect(gh_node* node, gh_op* op, gh_str error)
{
    node->client->beneath->redirect(gh_node_server(node), op, error);
}

static void seconds_late(gh_node* node)
{
    if (node->client->many_servers) node->client->beneath->late(gh_node_server(node));
}

static gh_epoch* seconds_epoch(gh_node* node, uint32_t* tag)
{
    gh_node* main = gh_node_server(node);
    return node->client->many_servers ? node->client->beneath->epoch(main, tag) : &main->own_epoch;
}

static bool seconds_stray(gh_node* node, gh_str error)
{
    return node->client->beneath->strays(gh_node_server(node), error);
}

/* What was answered and not said to be on replicas will never be said to be. And who has lost the one link may have
   lost the other, too, on which nothing may be awaited. */
static void seconds_lost(gh_node* node)
{
    gh_op* op;
    gh_node_server(node)->link.look_us = 0;
    if (node->client->many_servers) node->client->beneath->lost(gh_node_server(node));
    node->wait_sent = false;
    while ((op = gh_awaited_take(node)) != NULL) gh_replicas_tell(op, GH_UNREPLICATED);
}

/* ---- WAIT -------------------------------------------------------------------------------------------------------- */

static uint32_t least_of(uint32_t least, const gh_op* op)
{
    const uint32_t wanted = gh_replicas_of(op);
    return least == 0 || (wanted != 0 && wanted < least) ? wanted : least;
}

/* The fewest that anything waits for, so that nobody is kept by those who want more and then ask again. 0: nothing
   waits. */
static uint32_t least_wanted(const gh_node* node)
{
    uint32_t least = 0;
    const gh_op* op;
    const gh_slot* slot;
    for (op = node->awaited.first; op != NULL; op = op->next) least = least_of(least, op);
    for (slot = node->sent; slot != NULL; slot = slot->next)
        if (slot->op != NULL && slot->purpose == GH_SLOT_OP) least = least_of(least, slot->op);
    return least;
}

/* In milliseconds; 0 would be for ever. It is short, and asked again, so that others get a word in. */
static uint64_t time_of_wait(const gh_client* client)
{
    const uint64_t most_us =
        gh_least(gh_least(client->config.wait_us, client->config.request_timeout_us / 4), SLICE_US);
    return most_us < 1000 ? 1 : most_us / 1000;
}

static void request_decimal(gh_request* request, uint64_t number)
{
    char digits[GH_DECIMAL_SIZE_MAX];
    gh_request_str(request, gh_str_make(digits, (size_t)(gh_decimal_encode(number, digits) - digits)));
}

static void wait_ask(gh_node* node)
{
    gh_request request = gh_link_request(&node->link);
    const uint32_t wanted = node->wait_sent ? 0 : least_wanted(node);
    if (wanted == 0) return;
    gh_request_array(&request, 3);
    gh_request_str(&request, gh_str_literal("WAIT"));
    request_decimal(&request, wanted);
    request_decimal(&request, time_of_wait(node->client));
    if (!gh_slots_have_room_to_wait(node) || !gh_link_commit(&node->link, &request)) return; /* in another tick */
    gh_slots_add(node, GH_SLOT_WAIT, NULL, NULL);
    node->wait_sent = true;
}

/* All that was answered before it was done before it: each op that is awaited now. */
static gh_taken wait_take(gh_node* node, const gh_reply* reply)
{
    const uint64_t have = reply->type == GH_REPLY_INTEGER && reply->integer > 0 ? (uint64_t)reply->integer : 0;
    uint32_t left = node->awaited.count;
    gh_op* op;
    node->wait_sent = false;
    if (reply->type == GH_REPLY_ERROR)
    {
        const gh_str part = gh_str_literal("replicas' link: WAIT is refused: ");
        gh_log_limited(node->client, GH_LOG_HANDSHAKE, GH_LOG_WARNING, &part, 1, reply->text);
        return GH_TAKEN_MOVED; /* the next hand-shake says why */
    }
    if (reply->type != GH_REPLY_INTEGER) return GH_TAKEN_BROKEN;
    while (left-- > 0 && (op = gh_awaited_take(node)) != NULL)
    {
        if (gh_replicas_of(op) <= have) gh_replicas_tell(op, GH_OK);
        else gh_op_await(op, node, op->retry_us > node->client->now_us ? op->retry_us - node->client->now_us : 0);
    }
    return GH_TAKEN_DONE;
}

static void wait_late(gh_op* op)
{
    gh_op_unsend(op);
    gh_replicas_tell(op, GH_UNREPLICATED);
}

const struct gh_replicas* gh_replicas_wait(void)
{
    static const struct gh_replicas replicas = {.topology = {.name = "replicas",
                                                             .move = seconds_move,
                                                             .due_us = seconds_due,
                                                             .find = seconds_find,
                                                             .known = seconds_known,
                                                             .link = seconds_link,
                                                             .route = seconds_route,
                                                             .place = seconds_place,
                                                             .redirect = seconds_redirect,
                                                             .lost = seconds_lost,
                                                             .late = seconds_late,
                                                             .epoch = seconds_epoch,
                                                             .strays = seconds_stray},
                                                .init = seconds_init,
                                                .place = second_place,
                                                .ask = wait_ask,
                                                .take = wait_take,
                                                .late = wait_late,
                                                .lease_step = gh_replicas_lease_step,
                                                .call_step = gh_replicas_call_step};
    return &replicas;
}
