/* requests.c -- what a bot has asked, until it is answered. */

#include "bots/crowd.h"

static bool is_trade(message_type type)
{
    return type == MESSAGE_BROWSE || type == MESSAGE_SELL || type == MESSAGE_BUY;
}

/* The server does one of a kind at a time, and all trade is of one kind. A key-stroke does not wait. */
static bool are_one_kind(message_type a, message_type b)
{
    bool typing = a == MESSAGE_FIND_CONTACT || a == MESSAGE_FIND_MEMBER;
    return !typing && (a == b || (is_trade(a) && is_trade(b)));
}

request* request_begin(bot* b, message_type type)
{
    request* free = NULL;
    for (int i = 0; i < REQUESTS_MAX; i++)
    {
        request* r = &b->requests[i];
        if (r->number == 0) free = r;
        else if (are_one_kind(r->type, type)) return NULL;
    }
    if (free != NULL) *free = (request){.type = type};
    return free;
}

void request_send(crowd* c, bot* b, request* r, const message* m)
{
    message numbered = *m;
    r->number = numbered.number = ++b->next_number;
    numbered.type = r->type;
    r->asked_us = c->now_us;
    r->earned = b->account.earned;
    tally_add(c, TALLY_ASKED);
    wire_send(c->wire, b->number, &numbered);
}

bool request_is_open(const bot* b)
{
    for (int i = 0; i < REQUESTS_MAX; i++)
        if (b->requests[i].number != 0) return true;
    return false;
}
