/* events.c -- orders to tests/fleet.sh, and what its answers say. */

#include "events.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CALM_US      3000000u   /* before each, so that what players feel is of one event alone */
#define NO_ANSWER_US 180000000u /* thousands of slots move slowly on a machine that has much else to do */

/* ---- What happens -------------------------------------------------------------------------------------- */

/* In orders, '%' is a master and '+' the newest server.

   Replication is asynchronous: what a master has answered, and its replica has not got yet, is lost with it, and
   players would rightly call that a fault. So who is killed or frozen is held before: writes wait there, not carried
   out, until its replicas have all. Then whatever players miss is the game's fault, or Guildhall's. */
typedef struct plan
{
    const char* text;
    const char* orders;
} plan;

static const plan of_cluster[] = {
    {"a master is killed, and comes back", "hold %;kill %;settle;restart %;settle;"},
    {"a master is frozen for a while", "hold %;freeze %;settle;thaw %;release %;settle;"},
    {"a master hands over to its replica", "failover %;settle;"},
    {"2,000 slots move", "reshard 2000;settle;"},
    {"a node comes, and gets 2,000 slots", "add;reshard 2000;settle;"},
    {"a node goes", "remove +;settle;"},
    {NULL, NULL},
};

static const plan of_sentinels[] = {
    {"the master is killed, and comes back", "hold %;kill %;settle;restart %;settle;"},
    {"the master is frozen for a while", "hold %;freeze %;settle;thaw %;release %;settle;"},
    {"the master hands over to a replica", "failover %;settle;"},
    {NULL, NULL},
};

static int open_in(const char* folder, const char* name, int how)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int descriptor = open(path, how | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) perror(path);
    return descriptor;
}

void events_begin(events* e, const options* o, uint64_t now_us)
{
    *e = (events){.orders = -1, .answers = -1, .begun_us = now_us, .newest = -1};
    if (o->events == NULL) return;
    e->plans = o->cluster ? of_cluster : of_sentinels;
    for (; e->plans[e->count].text != NULL; e->count++) e->list[e->count].text = e->plans[e->count].text;
    e->end_us = o->seconds == 0 ? UINT64_MAX : now_us + o->seconds * 1000000ull;
    e->again_us = now_us + CALM_US;
    e->give_up_us = UINT64_MAX;
    e->orders = open_in(o->events, "orders", O_WRONLY);
    e->answers = open_in(o->events, "answers", O_RDONLY);
    e->failed = e->orders < 0 || e->answers < 0;
}

/* ---- Orders -------------------------------------------------------------------------------------------- */

static void choose_master(events* e)
{
    e->chosen = -1;
    for (uint32_t i = 0, masters = 0; i < EVENTS_SERVERS; i++)
    {
        if (!e->is_master[i]) continue;
        if (e->chosen < 0 || masters == e->done)
            e->chosen = (int)i; /* another one each time, where there are several */
        masters++;
    }
}

static void name_server(events* e, int number)
{
    event* now = &e->list[e->done];
    if (number >= 0) memcpy(now->address, e->addresses[number], sizeof now->address);
}

/* A server is away from its kill or freeze on, and comes back when another has taken its place. One that hands over is
   there until the other is. */
static void note_absence(events* e, const char* line, uint64_t now_us)
{
    bool goes = strncmp(line, "kill", 4) == 0 || strncmp(line, "freeze", 6) == 0;
    bool comes_back = strncmp(line, "restart", 7) == 0 || strncmp(line, "thaw", 4) == 0;
    if (goes) e->struck_us = now_us;
    if (comes_back) e->list[e->done].away_us = now_us - e->struck_us;
}

/* The next of this event's, with a number in the place of its sign. */
static void order(events* e, uint64_t now_us)
{
    char line[32];
    size_t size = strcspn(e->left, ";");
    size_t sign = strcspn(e->left, "%+;");
    int number = e->left[sign] == '+' ? e->newest : e->chosen;
    if (sign < size) snprintf(line, sizeof line, "%.*s%d\n", (int)sign, e->left, number);
    else snprintf(line, sizeof line, "%.*s\n", (int)size, e->left);
    if (sign < size) name_server(e, number);
    e->left += size + 1;
    e->asked = true;
    note_absence(e, line, now_us);
    e->give_up_us = now_us + NO_ANSWER_US;
    if (write(e->orders, line, strlen(line)) != (ssize_t)strlen(line)) e->failed = true;
}

/* ---- Answers ------------------------------------------------------------------------------------------- */

/* "3 127.0.0.1:10004 replica process 4711"; the last line of an answer is "addresses: ...". */
static void take_line(events* e)
{
    int number;
    char address[32], role[16];
    if (strncmp(e->line, "addresses: ", 11) == 0) e->asked = false;
    else if (strncmp(e->line, "kill N", 6) == 0) e->failed = true; /* it was not done: this is how to ask */
    if (sscanf(e->line, "%d %31s %15s", &number, address, role) != 3) return;
    if (number < 0 || number >= EVENTS_SERVERS) return;
    e->is_master[number] = strcmp(role, "master") == 0;
    snprintf(e->addresses[number], sizeof e->addresses[number], "%s", address);
    if (number > e->newest) e->newest = number;
}

static void take_answers(events* e)
{
    char bytes[1024];
    ssize_t size = read(e->answers, bytes, sizeof bytes);
    for (ssize_t i = 0; i < size; i++)
    {
        if (bytes[i] != '\n' && e->line_size + 1 < sizeof e->line) e->line[e->line_size++] = bytes[i];
        if (bytes[i] != '\n') continue;
        e->line[e->line_size] = '\0';
        e->line_size = 0;
        take_line(e);
    }
}

/* ---- One after the other ------------------------------------------------------------------------------- */

static uint64_t late_by_tick(const snapshot* shown)
{
    uint64_t late = 0;
    for (uint32_t i = 0; i < BOARD_ROWS; i++) late += shown->rows[i].frames_late_by_tick;
    return late;
}

uint64_t events_losses(const snapshot* shown)
{
    uint64_t losses = 0;
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        const board_row* row = &shown->rows[i];
        for (uint32_t k = 0; k < BOARD_ENDS && row->ends[k].system[0] != '\0'; k++)
            if (row->ends[k].status == GH_LOST || row->ends[k].status == GH_RESTARTED) losses += row->ends[k].count;
    }
    return losses;
}

static uint64_t proven(const event* one)
{
    return one->delay_us >= EVENTS_LEASES_LAST_US ? one->losses : 0;
}

uint64_t events_losses_unproven(const events* e, const snapshot* shown)
{
    uint64_t proven_losses = proven(&e->calm);
    for (uint32_t i = 0; i < e->count; i++) proven_losses += proven(&e->list[i]);
    return events_losses(shown) - proven_losses;
}

/* What is over counts until the next begins: an op may end a moment later than its event. */
static event* event_at_hand(events* e)
{
    bool is_on = e->done < e->count && e->list[e->done].begun_us > 0;
    if (is_on) return &e->list[e->done];
    return e->done == 0 ? &e->calm : &e->list[e->done - 1];
}

static void look_at_players(events* e, const snapshot* shown)
{
    event* now = event_at_hand(e);
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
        if (shown->rows[i].delay_us > now->delay_us) now->delay_us = shown->rows[i].delay_us;
    now->late = late_by_tick(shown) - e->late_before;
    now->losses = events_losses(shown) - e->losses_before;
}

uint64_t events_away_us(const events* e)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < e->count; i++)
        if (e->list[i].away_us > longest) longest = e->list[i].away_us;
    return longest;
}

static void begin_next(events* e, const snapshot* shown, board_row* row)
{
    event* next = &e->list[e->done];
    next->begun_us = shown->now_us;
    e->left = e->plans[e->done].orders;
    e->late_before = late_by_tick(shown);
    e->losses_before = events_losses(shown);
    choose_master(e);
    board_say(row, shown->now_us, GH_LOG_INFO, gh_str_of(next->text));
}

static void end_one(events* e, uint64_t now_us)
{
    e->list[e->done].took_us = now_us - e->list[e->done].begun_us;
    e->done++;
    e->again_us = now_us + CALM_US;
    e->give_up_us = UINT64_MAX;
}

void events_frame(events* e, const snapshot* shown, board_row* row)
{
    uint64_t now_us = shown->now_us;
    if (e->count == 0 || e->failed) return;
    take_answers(e);
    look_at_players(e, shown);
    if (now_us > e->give_up_us) e->failed = true;
    if (e->done == e->count || e->asked || e->failed) return;
    bool is_on = e->list[e->done].begun_us > 0;
    if (!is_on && now_us < e->again_us) return;
    if (!is_on) begin_next(e, shown, row);
    if (*e->left != '\0') order(e, now_us);
    else end_one(e, now_us);
}

bool events_are_over(const events* e, uint64_t now_us)
{
    if (e->count == 0) return false;
    return e->failed || (e->done == e->count && now_us >= e->end_us && now_us >= e->again_us);
}

void events_end(events* e)
{
    if (e->count == 0) return;
    if (e->orders >= 0) close(e->orders);
    if (e->answers >= 0) close(e->answers);
    e->orders = e->answers = -1;
}
