/* Nodes that say what no Cluster would to those who listen to them: what it costs, that the wake link is heard all the
   same, and that the truth is believed as soon as it is told. */

#include "support/server/made_cluster.h"

#include <stdio.h>
#include <string.h>

#define TICK_US   5000
#define LIED_US   20000000
#define SECOND_US UINT64_C(1000000)

/* Says something to who subscribes. */
typedef void (*listener_lie)(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply);

/* What the nodes have seen, and how they answer. */
typedef struct liars
{
    made_cluster* fleet;
    scripted_answer honest;
    listener_lie lie;
    gh_lock* lock;
    char channel[128];
    char sequence[17];
    const scripted_stream* stream; /* that subscribed last */
    unsigned subscribed;
    unsigned left;
    unsigned asked;
} liars;

static liars all;

static void add(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

static void push(byte_buffer* reply, const char* kind, gh_str channel, const char* third)
{
    char text[512];
    snprintf(text, sizeof text, "*3\r\n$%zu\r\n%s\r\n$%zu\r\n%.*s\r\n%s\r\n", strlen(kind), kind, channel.size,
             (int)channel.size, channel.bytes, third);
    add(reply, text);
}

static bool is(gh_str word, const char* text)
{
    return gh_str_equal(word, gh_str_of(text));
}

static void take_subscription(scripted* world, gh_str channel, byte_buffer* reply)
{
    const unsigned slot = gh_slot_of_key(channel);
    const unsigned node = world->asked->port - MADE_PORT;
    all.subscribed++;
    all.stream = world->asked;
    snprintf(all.channel, sizeof all.channel, "%.*s", (int)channel.size, channel.bytes);
    if (all.lie != NULL) all.lie(&channel, node, slot, reply);
    else if (all.fleet->owners[slot] == node) push(reply, "ssubscribe", channel, ":1");
    else made_redirect(reply, "MOVED", slot, all.fleet->owners[slot]);
}

/* Everybody waits, and would ask by himself only after seconds. */
static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (count == 2 && is(words[0], "SSUBSCRIBE"))
    {
        take_subscription(world, words[1], reply);
        return true;
    }
    if (count == 2 && is(words[0], "SUNSUBSCRIBE"))
    {
        all.left++;
        push(reply, "sunsubscribe", words[1], ":0");
        return true;
    }
    if (count != 14 || !is(words[0], "EVALSHA")) return all.honest(world, words, count, reply);
    if (all.fleet->owners[gh_slot_of_key(words[3])] != world->asked->port - MADE_PORT)
        return all.honest(world, words, count, reply);
    assert_true(words[6].bytes[words[6].size - 1] == '='); /* whoever waits also says hints so */
    all.asked++;
    snprintf(all.sequence, sizeof all.sequence, "%.16s", words[7].bytes + 17);
    buffer_add_bulk(reply, "%.*s 1 0 9000000 40 1000000000000000", (int)words[8].size, words[8].bytes);
    return true;
}

static void start_lying(listener_lie lie)
{
    all = (liars){.fleet = made_cluster_new(3), .lie = lie};
    all.fleet->config.wake = true;
    all.fleet->config.wake_sharded = true;
    all.honest = all.fleet->world->answer;
    all.fleet->world->answer = answer;
    made_cluster_start(all.fleet);
    MADE_UNTIL(all.fleet, gh_client_link_state(all.fleet->world->client, GH_LINK_WAKE) == GH_LINK_READY, TICK_US,
               SECOND_US);
    all.lock = made_cluster_want(all.fleet, 0, 3600000000u);
    MADE_UNTIL(all.fleet, all.lock->position == 40 && all.subscribed > 0, TICK_US, SECOND_US);
}

static void tick_for(uint64_t us)
{
    for (uint64_t i = 0; i < us / TICK_US; i++) made_cluster_tick(all.fleet, TICK_US);
}

static void say_hint(const char* kind, const char* channel, intptr_t stream)
{
    char hint[32];
    snprintf(hint, sizeof hint, "$16\r\n%s", all.sequence);
    push(&all.fleet->world->streams[stream].replies, kind, gh_str_of(channel), hint);
}

/* A hint over that link makes it ask; it may ask once more because its slot is said to have moved. */
static void must_hear_over_all(void)
{
    const unsigned asked = all.asked;
    say_hint("message", "gh:wake:", gh_client_fd(all.fleet->world->client, GH_LINK_WAKE, NULL));
    made_cluster_tick(all.fleet, TICK_US);
    made_cluster_tick(all.fleet, TICK_US);
    assert_in_range(all.asked - asked, 1, all.lie == NULL ? 1 : 2);
}

static void must_hear_over_the_slot(void)
{
    const unsigned asked = all.asked;
    const uint64_t sharded = scripted_stats(all.fleet->world).hints_sharded;
    say_hint("smessage", all.channel, all.stream - all.fleet->world->streams);
    made_cluster_tick(all.fleet, TICK_US);
    made_cluster_tick(all.fleet, TICK_US);
    assert_int_equal(all.asked, asked + 1);
    assert_int_equal(scripted_stats(all.fleet->world).hints_sharded, sharded + 1);
}

/* Twenty seconds of it; a waiter asks every 2.5 to 5 s by himself, and its question may make it subscribe anew. */
static void expect_outlived(listener_lie lie, unsigned subscribed_most, uint64_t healed_us)
{
    start_lying(lie);
    const uint64_t opens = all.fleet->world->opens;
    tick_for(LIED_US);
    assert_int_equal(gh_op_poll(&all.lock->op), GH_PENDING);
    assert_in_range(all.subscribed, 1, subscribed_most);
    assert_true(all.fleet->world->opens - opens <= 100);
    must_hear_over_all();
    all.lie = NULL;
    const unsigned subscribed = all.subscribed;
    MADE_UNTIL(all.fleet, all.subscribed > subscribed, TICK_US, healed_us);
    tick_for(SECOND_US / 2);
    must_hear_over_the_slot();
    must_hear_over_all();
}

static void moved_to_the_next(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)channel;
    made_redirect(reply, "MOVED", slot, (node + 1) % 3);
}

static void moved_to_itself(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)channel;
    made_redirect(reply, "MOVED", slot, node);
}

static void left_at_once(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)node;
    (void)slot;
    push(reply, "ssubscribe", *channel, ":1");
    push(reply, "sunsubscribe", *channel, ":0");
}

static void told_to_try_again(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)channel;
    (void)node;
    (void)slot;
    add(reply, "-TRYAGAIN not now\r\n");
}

static void refused(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)channel;
    (void)node;
    (void)slot;
    add(reply, "-NOPERM this user has no permissions to run the 'ssubscribe' command\r\n");
}

static void answered_with_nonsense(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)node;
    (void)slot;
    add(reply, "*0\r\n*3\r\n:1\r\n:2\r\n:3\r\n*3\r\n$-1\r\n$-1\r\n$-1\r\n+OK\r\n");
    push(reply, "smessage", *channel, "$3\r\nabc");
    push(reply, "ssubscribe", gh_str_literal("gh:{lock:other}:wake:"), ":1");
    add(reply, "!what is this\r\n");
}

static void flooded(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    static char large[1 << 20];
    char head[32];
    (void)node;
    (void)slot;
    memset(large, 'x', sizeof large);
    snprintf(head, sizeof head, "$%zu", sizeof large);
    push(reply, "ssubscribe", *channel, ":1");
    push(reply, "smessage", *channel, head);
    buffer_add(reply, large, sizeof large);
    add(reply, "\r\n");
}

static void silent(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)channel;
    (void)node;
    (void)slot;
    (void)reply;
}

static void moved_to_and_fro_is_outlived(void** state)
{
    (void)state;
    expect_outlived(moved_to_the_next, 200, 10 * SECOND_US);
}

static void moved_to_itself_is_outlived(void** state)
{
    (void)state;
    expect_outlived(moved_to_itself, 200, 10 * SECOND_US);
}

static void leaving_again_and_again_is_outlived(void** state)
{
    (void)state;
    expect_outlived(left_at_once, 200, 10 * SECOND_US);
}

static void try_again_is_outlived(void** state)
{
    (void)state;
    expect_outlived(told_to_try_again, 64, 10 * SECOND_US);
}

/* It is not asked again for half a minute. */
static void refusal_is_told(void** state)
{
    (void)state;
    expect_outlived(refused, 1, 40 * SECOND_US);
    assert_true(scripted_logged(all.fleet->world, "SSUBSCRIBE") || scripted_logged(all.fleet->world, "ssubscribe"));
}

static void nonsense_is_outlived(void** state)
{
    (void)state;
    expect_outlived(answered_with_nonsense, 64, 10 * SECOND_US);
}

static void flood_is_outlived(void** state)
{
    (void)state;
    expect_outlived(flooded, 64, 10 * SECOND_US);
}

/* Nothing is confirmed, and nothing is missed: what nobody hears over the slot is said over all nodes. */
static void silence_is_outlived(void** state)
{
    (void)state;
    start_lying(silent);
    tick_for(LIED_US);
    assert_in_range(all.subscribed, 1, 64);
    must_hear_over_all();
}

/* Without them it would be asked again and again. */
static void channel_is_left_when_nobody_waits(void** state)
{
    (void)state;
    start_lying(NULL);
    tick_for(SECOND_US);
    must_hear_over_the_slot();
    tick_for(60 * SECOND_US);
    assert_int_equal(all.subscribed, 1);
    assert_int_equal(all.left, 0);
    gh_op_cancel(&all.lock->op);
    MADE_UNTIL(all.fleet, !gh_op_is_busy(&all.lock->op), TICK_US, SECOND_US);
    tick_for(40 * SECOND_US);
    assert_int_equal(all.left, 1);
    assert_false(all.stream->open); /* nothing is heard over it any more */
}

/* Where the wake link is away, what was said before the confirmation is lost: it asks once more. */
static void without_the_wake_link_it_asks_once_more(void** state)
{
    (void)state;
    start_lying(silent);
    tick_for(SECOND_US / 10);
    all.fleet->world->streams[gh_client_fd(all.fleet->world->client, GH_LINK_WAKE, NULL)].ended = true;
    all.fleet->world->open_status = GH_REFUSED;
    made_cluster_tick(all.fleet, TICK_US);
    made_cluster_tick(all.fleet, TICK_US);
    const unsigned asked = all.asked;
    push(&all.fleet->world->streams[all.stream - all.fleet->world->streams].replies, "ssubscribe",
         gh_str_of(all.channel), ":1");
    made_cluster_tick(all.fleet, TICK_US);
    made_cluster_tick(all.fleet, TICK_US);
    assert_int_equal(all.asked, asked + 1);
}

TEST_FILE(cluster_hints_lies, cmocka_unit_test(moved_to_and_fro_is_outlived),
          cmocka_unit_test(moved_to_itself_is_outlived), cmocka_unit_test(leaving_again_and_again_is_outlived),
          cmocka_unit_test(try_again_is_outlived), cmocka_unit_test(refusal_is_told),
          cmocka_unit_test(nonsense_is_outlived), cmocka_unit_test(flood_is_outlived),
          cmocka_unit_test(silence_is_outlived), cmocka_unit_test(channel_is_left_when_nobody_waits),
          cmocka_unit_test(without_the_wake_link_it_asks_once_more));
