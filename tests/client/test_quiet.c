/* A client whose server is silent sleeps: whoever waits with gh_next_deadline and the handles of its links makes under
   100 turns a second, whatever the client waits for. */

#include "support/server/fake_server.h"
#include "support/scene/game.h"
#include "support/scene/on.h"
#include "support/scene/parcel.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"
#include "support/scene/sleeper.h"

#include <string.h>

#define MS        UINT64_C(1000)
#define TURNS_MAX 100 /* a second */
#define LOOK_US   (2 * SECOND_US)

/* ---- a peer that falls silent in the middle -------------------------------------------------------------- */

typedef struct mute
{
    unsigned after;   /* so many requests are answered, of all of them         */
    const char* from; /* or all before the first of this command               */
    bool is_mute;
    const char* error; /* what the request "A" gets, while it is answered; or NULL */
} mute;

static bool fall_silent(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    mute* self = world->context;
    (void)count;
    if (self->from != NULL && gh_str_equal(words[0], gh_str_of(self->from))) self->is_mute = true;
    if (self->from == NULL && self->after-- == 0) self->is_mute = true;
    if (self->is_mute)
    {
        self->after = 0;
        return true;
    }
    if (self->error == NULL || !gh_str_equal(words[0], gh_str_literal("A"))) return false;
    buffer_add(reply, self->error, strlen(self->error));
    return true;
}

static scripted* quiet_new(mute* peer)
{
    scripted* world = scripted_new();
    world->context = peer;
    world->answer = peer == NULL ? NULL : fall_silent;
    return world;
}

static gh_client_config quiet_config(void)
{
    gh_client_config config = scripted_config();
    config.user = gh_str_literal("default");
    config.password = gh_str_literal("anything");
    config.database = 1;
    return config;
}

/* The links are given up and made anew meanwhile, as they should: that is part of it. */
static void assert_quiet(scripted* world, const char* state)
{
    uint64_t begin_us = world->now_us;
    unsigned turns = 0;
    while (world->now_us - begin_us < LOOK_US && gh_next_deadline(world->client) != GH_FOREVER)
    {
        sleeper_tick(world);
        if (++turns >= TURNS_MAX * (LOOK_US / SECOND_US))
            fail_msg("%s: %u turns in %d ms", state, turns, (int)((world->now_us - begin_us) / MS));
    }
}

/* ---- connecting ------------------------------------------------------------------------------------------ */

static gh_status not_yet(void* context, gh_str host, gh_str* numeric)
{
    (void)context, (void)host, (void)numeric;
    return GH_PENDING;
}

static void resolver_that_takes_its_time(void** state)
{
    (void)state;
    scripted* world = quiet_new(NULL);
    gh_client_config config = quiet_config();
    config.address = gh_str_literal("store.example:6379");
    config.resolver = not_yet;
    scripted_start(world, &config);
    scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
    assert_quiet(world, "resolving");
}

static void black_hole_for_connections(void** state)
{
    (void)state;
    scripted* world = quiet_new(NULL);
    gh_client_config config = quiet_config();
    world->open_status = world->connected_status = GH_PENDING;
    scripted_start(world, &config);
    scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
    assert_quiet(world, "connecting");
}

static void nobody_listens(void** state)
{
    (void)state;
    scripted* world = quiet_new(NULL);
    gh_client_config config = quiet_config();
    world->open_status = GH_REFUSED;
    scripted_start(world, &config);
    scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
    assert_quiet(world, "back-off");
}

/* ---- the hand-shake -------------------------------------------------------------------------------------- */

static void hand_shake_that_stops_anywhere(void** state)
{
    (void)state;
    for (unsigned after = 0; after < 15; after++) /* the last two are of the lock */
    {
        mute peer = {.after = after};
        scripted* world = quiet_new(&peer);
        gh_client_config config = quiet_config();
        scripted_start(world, &config);
        scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
        for (int i = 0; i < 5; i++) sleeper_tick(world);
        assert_true(peer.is_mute);
        assert_quiet(world, "hand-shake");
    }
}

static void hand_shake_that_cannot_be_sent(void** state)
{
    (void)state;
    scripted* world = quiet_new(NULL);
    gh_client_config config = quiet_config();
    world->send_max = 0;
    scripted_start(world, &config);
    scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
    assert_quiet(world, "hand-shake, unsent");
}

/* ---- ready ----------------------------------------------------------------------------------------------- */

static scripted* quiet_ready(mute* peer, gh_client_config config)
{
    scripted* world = quiet_new(peer);
    if (peer != NULL) peer->after = UINT32_MAX;
    scripted_start_ready(world, &config);
    return world;
}

/* Two of a kind whose script was never used: the second waits for the first one's digest, as all others do. */
static void script_that_is_not_loaded(void** state)
{
    (void)state;
    mute peer = {.after = 0};
    scripted* world = quiet_ready(&peer, quiet_config());
    peer.from = "SCRIPT";
    for (int i = 0; i < 2; i++) scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
    scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    for (int i = 0; i < 5; i++) sleeper_tick(world);
    assert_true(peer.is_mute);
    assert_quiet(world, "waiting for a digest");
}

/* A right was taken away, so all are asked for again. */
static void rights_that_are_not_told(void** state)
{
    (void)state;
    mute peer = {.error = "-ERR ACL failure in script: the right is gone\r\n"};
    scripted* world = quiet_ready(&peer, quiet_config());
    scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    for (int i = 0; i < 5; i++) scripted_tick(world, MS);
    peer.from = "EVALSHA";
    for (int i = 0; i < 2; i++) scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
    for (int i = 0; i < 5; i++) sleeper_tick(world);
    assert_true(peer.is_mute);
    assert_quiet(world, "waiting for rights");
}

static void requests_without_answers(void** state)
{
    (void)state;
    for (int wake = 0; wake < 2; wake++)
    {
        gh_client_config config = quiet_config();
        config.wake = wake == 1;
        scripted* world = quiet_ready(NULL, config);
        gh_lock* held = scripted_want(world, "held", 60 * SECOND_US, SECOND_US);
        SCRIPTED_UNTIL(world, gh_op_poll(&held->op) == GH_HELD, MS, SECOND_US);
        world->silent = true;
        for (int i = 0; i < 20; i++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
        scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
        assert_quiet(world, "ready");
    }
}

static void queue_without_a_place_on_the_wire(void** state)
{
    (void)state;
    gh_client_config config = quiet_config();
    config.requests_capacity = 8;
    scripted* world = quiet_ready(NULL, config);
    world->silent = true;
    for (int i = 0; i < 50; i++) scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    assert_quiet(world, "no place on the wire");
}

static void ask_much(scripted* world, size_t size)
{
    gh_command* op = SCRIPTED_NEW(world, gh_command);
    gh_command_config config = gh_command_config_default();
    gh_str* words = scripted_keep(world, 2 * sizeof(gh_str));
    char* bytes = scripted_keep(world, size);
    memset(bytes, 'a', size);
    words[0] = gh_str_literal("A");
    words[1] = gh_str_make(bytes, size);
    config.timeout_us = 60 * SECOND_US;
    config.repeat = GH_REPEAT_SAFE;
    assert_status(gh_command_begin(op, world->client, words, 2, &config), GH_OK);
}

/* The socket takes nothing; or takes all, and the next request needs the whole buffer. */
static void queue_without_room_in_the_buffer(void** state)
{
    (void)state;
    for (int stuck = 0; stuck < 2; stuck++)
    {
        gh_client_config config = quiet_config();
        config.out_bytes = 16 * 1024;
        scripted* world = quiet_ready(NULL, config);
        world->silent = true;
        if (stuck == 1) world->send_max = 0;
        for (int i = 0; i < 6; i++) ask_much(world, i % 2 == 0 ? 12000 : 9000);
        scripted_want(world, "sword", SECOND_US, 60 * SECOND_US);
        assert_quiet(world, stuck == 1 ? "a socket that takes nothing" : "no room in the buffer");
    }
}

static void server_that_is_left(void** state)
{
    (void)state;
    mute peer = {.error = "-READONLY You can't write against a read only replica.\r\n"};
    scripted* world = quiet_ready(&peer, quiet_config());
    scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    peer.from = "B";
    scripted_ask(world, "B", 60 * SECOND_US, GH_REPEAT_SAFE);
    for (int i = 0; i < 3; i++) sleeper_tick(world);
    assert_true(peer.is_mute);
    scripted_ask(world, "C", 60 * SECOND_US, GH_REPEAT_SAFE);
    assert_quiet(world, "leaving");
}

static void drain_that_nobody_answers(void** state)
{
    (void)state;
    gh_client_config config = quiet_config();
    config.wake = true;
    scripted* world = quiet_ready(NULL, config);
    gh_lock* held = scripted_want(world, "held", 60 * SECOND_US, SECOND_US);
    SCRIPTED_UNTIL(world, gh_op_poll(&held->op) == GH_HELD, MS, SECOND_US);
    world->silent = true;
    scripted_ask(world, "A", 60 * SECOND_US, GH_REPEAT_SAFE);
    scripted_tick(world, MS);
    assert_status(gh_client_drain(world->client, 60 * SECOND_US), GH_OK);
    assert_quiet(world, "draining");
}

/* ---- the wake link --------------------------------------------------------------------------------------- */

typedef struct half_world
{
    unsigned opens;   /* of the command link, that succeed      */
    gh_status status; /* of all later ones                      */
    bool deaf;        /* to SUBSCRIBE                           */
    bool dumb;        /* to PING                                */
    unsigned answers; /* of the resolver, before it thinks long */
} half_world;

static gh_status (*true_open)(void* context, const gh_address* address, intptr_t* stream);

static gh_status open_once(void* context, const gh_address* address, intptr_t* stream)
{
    scripted* world = context;
    half_world* self = world->context;
    if (self->opens > 0)
    {
        self->opens--;
        return true_open(context, address, stream);
    }
    world->open_status = world->connected_status = self->status;
    gh_status status = true_open(context, address, stream);
    world->open_status = GH_OK;
    return status;
}

static bool deaf_or_dumb(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    const half_world* self = world->context;
    (void)count, (void)reply;
    return (self->deaf && gh_str_equal(words[0], gh_str_literal("SUBSCRIBE"))) ||
           (self->dumb && gh_str_equal(words[0], gh_str_literal("PING")));
}

static gh_status answer_a_few(void* context, gh_str host, gh_str* numeric)
{
    half_world* self = context;
    (void)host;
    if (self->answers == 0) return GH_PENDING;
    self->answers--;
    *numeric = gh_str_literal("127.0.0.1");
    return GH_OK;
}

static scripted* start_half(half_world* self, bool resolves)
{
    scripted* world = scripted_new();
    gh_client_config config = quiet_config();
    config.wake = true;
    if (resolves)
    {
        config.address = gh_str_literal("store.example:6379");
        config.resolver = answer_a_few;
        config.resolver_context = self;
    }
    true_open = world->platform.open;
    world->platform.open = open_once;
    world->context = self;
    world->answer = deaf_or_dumb;
    scripted_start_ready(world, &config);
    return world;
}

static void wake_link_in_each_state(void** state)
{
    (void)state;
    half_world worlds[] = {{.opens = 1, .status = GH_PENDING},
                           {.opens = 1, .status = GH_REFUSED},
                           {.opens = 99, .deaf = true},
                           {.opens = 99, .dumb = true},
                           {.opens = 99, .answers = 1}};
    const char* const states[] = {"connecting", "back-off", "subscribing", "asking", "resolving"};
    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
    {
        scripted* world = start_half(&worlds[i], worlds[i].answers > 0);
        gh_lock* held = scripted_want(world, "held", 60 * SECOND_US, SECOND_US);
        if (worlds[i].status == GH_HELD) SLEEP_UNTIL(world, gh_op_poll(&held->op) == GH_HELD, 100, SECOND_US);
        for (int j = 0; j < 5; j++) assert_quiet(world, states[i]);
    }
}

/* The last read before it was given up was full: nothing of that connection is left to be read. */
static void wake_link_that_is_lost_behind_a_full_read(void** state)
{
    (void)state;
    half_world self = {.opens = 99};
    scripted* world = start_half(&self, false);
    SLEEP_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, 20, 100 * MS);
    for (int i = 0; i < 10; i++)
    {
        char nonsense[4096];
        const intptr_t stream = gh_client_fd(world->client, GH_LINK_WAKE, NULL);
        memset(nonsense, '!', sizeof nonsense);
        buffer_add(&world->streams[stream].replies, nonsense, sizeof nonsense);
        SLEEP_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_BACKOFF, 20, 100 * MS);
        SLEEP_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, 20, 100 * MS);
    }
}

/* A resolver that thinks for a moment is asked again before the attempt is over, for the wake link as for the other. */
static void sleeper_asks_the_resolver_for_both_links(void** state)
{
    (void)state;
    half_world self = {.opens = 99, .answers = 1};
    scripted* world = start_half(&self, true);
    for (int i = 0; i < 3; i++) sleeper_tick(world);
    assert_int_equal(gh_client_link_state(world->client, GH_LINK_WAKE), GH_LINK_RESOLVING);
    self.answers = 1;
    SLEEP_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY, 20, 100 * MS);
}

/* ---- with poll(), and a server that stands still ---------------------------------------------------------- */

static void assert_quiet_game(game* self, const char* state)
{
    uint64_t begin_us = wait_now_us();
    uint64_t most = TURNS_MAX * (LOOK_US / SECOND_US);
    uint64_t turns = 0;
    while (wait_now_us() - begin_us < LOOK_US)
    {
        (void)sleeper_poll(&self, 1, LOOK_US);
        game_tick(self);
        uint64_t looked_us = wait_now_us() - begin_us;
        if (++turns >= most) fail_msg("%s: %d turns in %d ms", state, (int)turns, (int)(looked_us / MS));
    }
}

/* Whatever waits in a store: each of them asks now and then. */
static void begin_what_waits(game* a)
{
    static _Alignas(16) char room[65536];
    gh_mailbox_fetch_config mail = gh_mailbox_fetch_config_default();
    gh_files_list_config list = gh_files_list_config_default();
    gh_file_entry* entry = GAME_NEW(a, gh_file_entry);
    list.entries = entry, list.entry_count = 1;
    list.names = room, list.names_size = GH_NAME_SIZE_MAX;
    list.wait_us = mail.wait_us = 600 * SECOND_US;
    mail.buffer = room + 1024, mail.buffer_size = 16384;
    for (int i = 0; i < 2; i++)
    {
        gh_lock_config lock = gh_lock_config_default();
        lock.wait_us = 600 * SECOND_US;
        assert_status(gh_lock_begin(GAME_NEW(a, gh_lock), a->client, gh_str_literal("sword"), &lock), GH_OK);
        assert_status(gh_permit_begin(GAME_NEW(a, gh_permit), ON_SEMAPHORE(a->client, gh_str_literal("gate"), 1), NULL),
                      GH_OK);
    }
    gh_mailbox_fetch* fetch = GAME_NEW(a, gh_mailbox_fetch);
    assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(a->client, gh_str_literal("mia")), &mail), GH_OK);
    assert_status(gh_files_list_begin(GAME_NEW(a, gh_files_list), a->client, gh_str_literal("news"), &list), GH_OK);
    reader* in = reader_new(a, 5000);
    reader_begin(in, gh_str_literal("motd"), "0");
    sender* out = sender_new(a, 2, parcel_bytes(a, 5000, 1, false), 5000);
    sender_begin(out, gh_str_literal("motd"));
}

static void server_that_stands_still(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    begin_what_waits(a);
    for (int i = 0; i < 200; i++) game_tick_all();
    redis_server_freeze(server);
    assert_quiet_game(a, "frozen while ready");
    begin_what_waits(a);
    assert_quiet_game(a, "frozen, and more is asked");
    redis_server_thaw(server);
}

TEST_FILE(quiet, cmocka_unit_test(resolver_that_takes_its_time), cmocka_unit_test(black_hole_for_connections),
          cmocka_unit_test(nobody_listens), cmocka_unit_test(hand_shake_that_stops_anywhere),
          cmocka_unit_test(hand_shake_that_cannot_be_sent), cmocka_unit_test(script_that_is_not_loaded),
          cmocka_unit_test(rights_that_are_not_told), cmocka_unit_test(requests_without_answers),
          cmocka_unit_test(queue_without_a_place_on_the_wire), cmocka_unit_test(queue_without_room_in_the_buffer),
          cmocka_unit_test(server_that_is_left), cmocka_unit_test(drain_that_nobody_answers),
          cmocka_unit_test(wake_link_in_each_state), cmocka_unit_test(wake_link_that_is_lost_behind_a_full_read),
          cmocka_unit_test(sleeper_asks_the_resolver_for_both_links), cmocka_unit_test(server_that_stands_still));
