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
    bool keeps_left;   /* who leaves is not answered ...       */
    const char* probe; /* what SPUBLISH is answered; NULL: 0   */
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
        if (!all.keeps_left) push(reply, "sunsubscribe", words[1], ":0");
        return true;
    }
    if (all.probe != NULL && is(words[0], "SPUBLISH"))
    {
        add(reply, all.probe);
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

static void start_fleet(listener_lie lie, uint32_t channels, const char* probe)
{
    all = (liars){.fleet = made_cluster_new(3), .lie = lie, .probe = probe};
    all.fleet->config.wake = true;
    all.fleet->config.wake_sharded = true;
    all.fleet->config.wake_channels = channels;
    all.honest = all.fleet->world->answer;
    all.fleet->world->answer = answer;
    made_cluster_start(all.fleet);
    MADE_UNTIL(all.fleet, gh_client_link_state(all.fleet->world->client, GH_LINK_WAKE) == GH_LINK_READY, TICK_US,
               SECOND_US);
}

static void start_lying(listener_lie lie)
{
    start_fleet(lie, 256, NULL);
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

static void not_known(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)channel;
    (void)node;
    (void)slot;
    add(reply, "-ERR unknown command 'SSUBSCRIBE'\r\n");
}

static void not_logged_in(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)channel;
    (void)node;
    (void)slot;
    add(reply, "-NOAUTH Authentication required.\r\n");
}

static void answered_with_nonsense(const gh_str* channel, unsigned node, unsigned slot, byte_buffer* reply)
{
    (void)node;
    (void)slot;
    add(reply, "*0\r\n*1\r\n:1\r\n*2\r\n:1\r\n:2\r\n*3\r\n:1\r\n:2\r\n:3\r\n*3\r\n$-1\r\n$-1\r\n$-1\r\n+OK\r\n");
    push(reply, "ssubscribed", *channel, ":1");
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

static void command_that_is_not_known_is_told(void** state)
{
    (void)state;
    expect_outlived(not_known, 1, 40 * SECOND_US);
    assert_true(scripted_logged(all.fleet->world, "unknown command"));
}

static void login_that_is_gone_is_told(void** state)
{
    (void)state;
    expect_outlived(not_logged_in, 1, 40 * SECOND_US);
    assert_true(scripted_logged(all.fleet->world, "Authentication required"));
}

static bool warns_of_shards(void)
{
    return (scripted_stats(all.fleet->world).warnings & GH_WARNING_NOT_SHARDED) != 0;
}

/* Whether hints may be said so is asked in the hand-shake: what passes says nothing of it. */
static void probe_that_fails_for_the_moment_is_no_refusal(void** state)
{
    (void)state;
    start_fleet(NULL, 256, "-CLUSTERDOWN Hash slot not served\r\n");
    assert_false(warns_of_shards());
    start_fleet(NULL, 256, "-NOPERM this user has no permissions to run the 'spublish' command\r\n");
    assert_true(warns_of_shards());
}

/* ---- links that are lost ----------------------------------------------------------------------------------------- */

static scripted_stream* stream_of_listener(void)
{
    return &all.fleet->world->streams[all.stream - all.fleet->world->streams];
}

static void must_be_heard_again(unsigned subscribed)
{
    MADE_UNTIL(all.fleet, all.subscribed > subscribed, TICK_US, 10 * SECOND_US);
    tick_for(SECOND_US / 2);
    must_hear_over_the_slot();
}

static void node_that_says_nothing_any_more_is_left(void** state)
{
    (void)state;
    start_lying(NULL);
    tick_for(SECOND_US);
    all.fleet->world->silent = true;
    MADE_UNTIL(all.fleet,
               scripted_logged(all.fleet->world, "shard's wake link: lost: no answer in time") ||
                   scripted_logged(all.fleet->world, "no answer in time"),
               TICK_US, 60 * SECOND_US);
    tick_for(30 * SECOND_US);
    const unsigned subscribed = all.subscribed;
    scripted_speak(all.fleet->world);
    must_be_heard_again(subscribed);
}

/* Three nodes stop in the middle of a hint: what they said of it lies in all that there is to receive into. */
static void half_hints_hold_up_no_op(void** state)
{
    (void)state;
    scripted_stream* streams[3];
    start_fleet(NULL, 256, NULL);
    for (unsigned node = 0; node < 3; node++)
    {
        (void)made_cluster_want(all.fleet, node, 3600000000u);
        MADE_UNTIL(all.fleet, all.subscribed == node + 1, TICK_US, SECOND_US);
        streams[node] = stream_of_listener();
    }
    tick_for(SECOND_US);
    const uint64_t lost = scripted_stats(all.fleet->world).links_lost;
    for (unsigned node = 0; node < 3; node++) add(&streams[node]->replies, "*3\r\n$8\r\nsmess");
    tick_for(10 * TICK_US);
    gh_lock* waits = made_cluster_want(all.fleet, 1, 3600000000u);
    MADE_UNTIL(all.fleet, waits->position == 40, TICK_US, SECOND_US * 3 / 5); /* a quarter of the 2 s, and some */
    assert_int_equal(scripted_stats(all.fleet->world).links_lost, lost);
    must_be_heard_again(3);
}

static int64_t (*true_send)(void* context, intptr_t stream, const void* bytes, size_t size);
static uint16_t deaf_listeners; /* a bit a stream */

static int64_t send_to_deaf(void* context, intptr_t stream, const void* bytes, size_t size)
{
    if (stream < 16 && (deaf_listeners >> stream & 1) != 0) return GH_STREAM_WOULD_BLOCK;
    return true_send(context, stream, bytes, size);
}

/* Two nodes take nothing any more of those who listen, and talk on: what is to be sent to them lies in all that there
   is to send from. */
static void listeners_that_take_nothing_hold_up_no_op(void** state)
{
    (void)state;
    scripted_stream* streams[2];
    start_fleet(NULL, 256, NULL);
    deaf_listeners = 0;
    for (unsigned node = 0; node < 2; node++)
    {
        (void)made_cluster_want(all.fleet, node, 3600000000u);
        MADE_UNTIL(all.fleet, all.subscribed == node + 1, TICK_US, SECOND_US);
        streams[node] = stream_of_listener();
        deaf_listeners |= (uint16_t)(1u << (streams[node] - all.fleet->world->streams));
    }
    tick_for(SECOND_US);
    true_send = all.fleet->world->platform.send;
    all.fleet->world->platform.send = send_to_deaf;
    gh_lock* last = NULL;
    for (unsigned node = 0; node < 3; node++)
    {
        char* name = scripted_keep(all.fleet->world, 24);
        (void)made_name(all.fleet, node, 2000, name);
        last = scripted_want(all.fleet->world, name, 10 * SECOND_US, 3600 * SECOND_US);
    }
    const uint64_t end_us = all.fleet->world->now_us + all.fleet->config.request_timeout_us + 20 * TICK_US;
    while (all.fleet->world->now_us < end_us)
    {
        for (unsigned node = 0; node < 2; node++)
            if (streams[node]->open) push(&streams[node]->replies, "smessage", gh_str_literal("x"), "$3\r\nabc");
        const uint64_t due_us = gh_next_deadline(all.fleet->world->client);
        made_cluster_tick(all.fleet, TICK_US);
        if (deaf_listeners == 0 || !scripted_logged(all.fleet->world, "takes nothing")) continue;
        assert_true(due_us <= all.fleet->world->now_us); /* who slept until then gives them up, too */
        deaf_listeners = 0;                              /* others have the streams */
    }
    assert_int_equal(last->position, 40);
}

/* It is seen when something is said, where what came before was not taken yet. */
static void stream_that_ends_while_its_bytes_wait(void** state)
{
    (void)state;
    start_lying(NULL);
    tick_for(SECOND_US);
    const unsigned subscribed = all.subscribed;
    all.fleet->world->receive_max = 0;
    push(&stream_of_listener()->replies, "smessage", gh_str_of(all.channel), "$3\r\nabc");
    stream_of_listener()->ended = true;
    tick_for(20 * SECOND_US);
    all.fleet->world->receive_max = SIZE_MAX;
    must_be_heard_again(subscribed);
}

/* A client that sleeps until its deadline misses nothing: it asks whether the node is there, and leaves in time. */
static void deadline_is_when_something_is_to_be_done(void** state)
{
    (void)state;
    start_lying(NULL);
    tick_for(SECOND_US);
    gh_op_cancel(&all.lock->op);
    MADE_UNTIL(all.fleet, !gh_op_is_busy(&all.lock->op), TICK_US, SECOND_US);
    const uint64_t end_us = all.fleet->world->now_us + 45 * SECOND_US;
    unsigned ticks = 0;
    while (all.fleet->world->now_us < end_us)
    {
        const uint64_t due_us = gh_next_deadline(all.fleet->world->client);
        const uint64_t now_us = all.fleet->world->now_us;
        if (all.left == 0) assert_true(due_us <= now_us + SECOND_US); /* then all rests */
        if (due_us >= end_us) break;
        made_cluster_tick(all.fleet, due_us > now_us ? due_us - now_us : 0);
        made_cluster_tick(all.fleet, 1); /* what was answered */
        assert_true(ticks++ < 2000);
    }
    assert_int_equal(all.left, 1);
    assert_false(all.stream->open);
}

/* ---- many objects ------------------------------------------------------------------------------------------------ */

#define WAITERS 6

/* Those that find no channel are woken over all nodes. */
static void more_objects_than_channels(void** state)
{
    (void)state;
    gh_lock* locks[WAITERS];
    start_fleet(NULL, 4, NULL);
    for (unsigned i = 0; i < WAITERS; i++)
    {
        char name[24];
        made_name(all.fleet, i % 3, i, name);
        locks[i] = scripted_want(all.fleet->world, name, 10 * SECOND_US, 3600 * SECOND_US);
    }
    MADE_UNTIL(all.fleet, all.subscribed == 4 && locks[WAITERS - 1]->position == 40, TICK_US, SECOND_US);
    tick_for(SECOND_US);
    assert_int_equal(all.subscribed, 4);
    must_hear_over_all();
    gh_op_cancel(&locks[1]->op); /* in the middle of a chain */
    tick_for(35 * SECOND_US);
    assert_int_equal(all.left, 1);
    for (unsigned i = 0; i < WAITERS; i++) gh_op_cancel(&locks[i]->op);
    tick_for(40 * SECOND_US);
    assert_int_equal(all.left, all.subscribed);
}

/* Two objects of one slot have a channel each. */
static void objects_of_one_slot_are_heard_apart(void** state)
{
    (void)state;
    char names[2][24];
    char key[40];
    start_fleet(NULL, 256, NULL);
    const unsigned slot = made_name(all.fleet, 0, 0, names[0]);
    for (unsigned i = 0;; i++)
    {
        snprintf(names[1], sizeof names[1], "gate%u", i);
        const int size = snprintf(key, sizeof key, "{lock:%s}", names[1]);
        if (gh_slot_of_key(gh_str_make(key, (size_t)size)) == slot) break;
    }
    gh_lock* one = scripted_want(all.fleet->world, names[0], 10 * SECOND_US, 3600 * SECOND_US);
    MADE_UNTIL(all.fleet, all.subscribed == 1 && one->position == 40, TICK_US, SECOND_US);
    gh_lock* other = scripted_want(all.fleet->world, names[1], 10 * SECOND_US, 3600 * SECOND_US);
    MADE_UNTIL(all.fleet, all.subscribed == 2 && other->position == 40, TICK_US, SECOND_US);
    must_hear_over_the_slot();
}

/* Its slots are another's now, and no map names it any more. */
static void node_that_is_gone_is_not_listened_to(void** state)
{
    (void)state;
    char name[24];
    start_fleet(NULL, 256, NULL);
    made_name(all.fleet, 2, 0, name);
    gh_lock* lock = scripted_want(all.fleet->world, name, 10 * SECOND_US, 3600 * SECOND_US);
    MADE_UNTIL(all.fleet, all.subscribed == 1 && lock->position == 40, TICK_US, SECOND_US);
    const scripted_stream* old = all.stream;
    made_cluster_share(all.fleet, 2);
    must_be_heard_again(1);
    tick_for(120 * SECOND_US);
    assert_true(!old->open || old->port != MADE_PORT + 2);
    must_hear_over_the_slot();
}

/* Somebody waits for it again before it is left. */
static gh_lock* leave_and_want_again(bool again)
{
    start_lying(NULL);
    tick_for(SECOND_US);
    all.keeps_left = true;
    gh_op_cancel(&all.lock->op);
    MADE_UNTIL(all.fleet, all.left == 1, TICK_US, 60 * SECOND_US);
    if (!again) return NULL;
    all.lock = made_cluster_want(all.fleet, 0, 3600000000u);
    MADE_UNTIL(all.fleet, all.lock->position == 40, TICK_US, SECOND_US);
    assert_int_equal(all.subscribed, 1);
    return all.lock;
}

static void channel_that_is_wanted_while_it_is_left(void** state)
{
    (void)state;
    (void)leave_and_want_again(true);
    push(&stream_of_listener()->replies, "sunsubscribe", gh_str_of(all.channel), ":0");
    must_be_heard_again(1);
}

static void link_that_is_lost_while_a_channel_is_left(void** state)
{
    (void)state;
    (void)leave_and_want_again(false);
    stream_of_listener()->ended = true;
    tick_for(10 * SECOND_US);
    assert_int_equal(all.subscribed, 1); /* nobody wants it */
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
    char name[24];
    made_name(all.fleet, 1, 0, name);
    gh_lock* other = scripted_want(all.fleet->world, name, 10 * SECOND_US, 3600 * SECOND_US); /* does not ask again */
    const scripted_stream* stream = all.stream;
    char channel[sizeof all.channel];
    memcpy(channel, all.channel, sizeof channel);
    MADE_UNTIL(all.fleet, other->position == 40 && all.stream != stream, TICK_US, SECOND_US);
    all.fleet->world->streams[gh_client_fd(all.fleet->world->client, GH_LINK_WAKE, NULL)].ended = true;
    all.fleet->world->open_status = GH_REFUSED;
    made_cluster_tick(all.fleet, TICK_US);
    made_cluster_tick(all.fleet, TICK_US);
    const unsigned asked = all.asked;
    push(&all.fleet->world->streams[stream - all.fleet->world->streams].replies, "ssubscribe", gh_str_of(channel),
         ":1");
    made_cluster_tick(all.fleet, TICK_US);
    made_cluster_tick(all.fleet, TICK_US);
    assert_int_equal(all.asked, asked + 1);
}

TEST_FILE(cluster_hints_lies, cmocka_unit_test(moved_to_and_fro_is_outlived),
          cmocka_unit_test(moved_to_itself_is_outlived), cmocka_unit_test(leaving_again_and_again_is_outlived),
          cmocka_unit_test(try_again_is_outlived), cmocka_unit_test(refusal_is_told),
          cmocka_unit_test(nonsense_is_outlived), cmocka_unit_test(flood_is_outlived),
          cmocka_unit_test(silence_is_outlived), cmocka_unit_test(channel_is_left_when_nobody_waits),
          cmocka_unit_test(without_the_wake_link_it_asks_once_more),
          cmocka_unit_test(command_that_is_not_known_is_told), cmocka_unit_test(login_that_is_gone_is_told),
          cmocka_unit_test(probe_that_fails_for_the_moment_is_no_refusal),
          cmocka_unit_test(node_that_says_nothing_any_more_is_left), cmocka_unit_test(half_hints_hold_up_no_op),
          cmocka_unit_test(listeners_that_take_nothing_hold_up_no_op),
          cmocka_unit_test(stream_that_ends_while_its_bytes_wait),
          cmocka_unit_test(deadline_is_when_something_is_to_be_done), cmocka_unit_test(more_objects_than_channels),
          cmocka_unit_test(objects_of_one_slot_are_heard_apart), cmocka_unit_test(node_that_is_gone_is_not_listened_to),
          cmocka_unit_test(channel_that_is_wanted_while_it_is_left),
          cmocka_unit_test(link_that_is_lost_while_a_channel_is_left));
