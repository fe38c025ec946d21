// guildhall.hpp against a real server: each of its names does what it says, what dies with busy ops inside leaves
// nothing behind, and nothing of it calls the heap.
//
//     hpp unix:/tmp/redis.sock

#include "guildhall/guildhall.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>
#include <vector>

using namespace std::chrono_literals;

static unsigned heap_calls;

void* operator new(std::size_t size)
{
    heap_calls++;
    if (void* memory = std::malloc(size)) return memory;
    std::abort();
}

void operator delete(void* memory) noexcept
{
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}

#define EXPECT(condition)                                                                                            \
    do                                                                                                               \
    {                                                                                                                \
        if (!(condition)) std::printf("FAILED line %d: %s\n", __LINE__, #condition), std::exit(1);                    \
    } while (0)

// ---- what does not compile ------------------------------------------------------------------------------------------

template <class T> constexpr bool stays = !std::is_copy_constructible_v<T> && !std::is_move_constructible_v<T> &&
                                          !std::is_copy_assignable_v<T> && !std::is_move_assignable_v<T>;
static_assert(stays<gh::lock> && stays<gh::permit> && stays<gh::lock_set> && stays<gh::chat_say<>>);
static_assert(stays<gh::chat_feed<>> && stays<gh::command<>> && stays<gh::script> && stays<gh::contacts<>>);
static_assert(stays<gh::client> && stays<gh::counters> && stays<gh::tasks_worker<>> && stays<gh::op<gh_file_send>>);
template <class T> constexpr bool is_a_value = std::is_trivially_copyable_v<T> &&
                                               std::is_nothrow_copy_constructible_v<T>;
static_assert(is_a_value<gh::semaphore> && is_a_value<gh::mailbox> && is_a_value<gh::chat>);
static_assert(std::is_nothrow_default_constructible_v<gh::lock> && std::is_nothrow_destructible_v<gh::lock>);

// Each op of the C headers.
template <class... Op> void all_of() { (static_cast<void>(gh::op<Op>()), ...); }
template void all_of<gh_lock, gh_lock_set, gh_lock_look, gh_permit, gh_semaphore_limit, gh_semaphore_look,
                     gh_tasks_push, gh_tasks_take, gh_tasks_finish, gh_tasks_extend, gh_tasks_worker,
                     gh_tasks_edit, gh_tasks_control, gh_tasks_look, gh_tasks_dead, gh_tasks_count,
                     gh_mailbox_push, gh_mailbox_fetch, gh_mailbox_commit, gh_chat_change, gh_chat_send,
                     gh_chat_fetch, gh_chat_commit, gh_chat_list, gh_chat_player, gh_chat_feed, gh_contacts_change,
                     gh_contacts_load, gh_counter_read, gh_row_schedule, gh_row_get, gh_rows, gh_command,
                     gh_guild_change, gh_guild_search, gh_guild_size, gh_guild_has, gh_file_send, gh_file_read,
                     gh_files_list, gh_file_look, gh_file_remove, gh_aggregate_flush, gh_aggregate_read>();

// ---- the scene ------------------------------------------------------------------------------------------------------

static gh::client_in<> client;
static unsigned asserted;

static bool count_assertion(void*, const char*, int, const char*)
{
    asserted++;
    return false;
}

template <class Condition> static void until(Condition condition)
{
    const auto end = std::chrono::steady_clock::now() + 3s;
    while (!condition() && std::chrono::steady_clock::now() < end) client.tick(500us);
    EXPECT(condition());
}

template <class Op> static gh_status end_of(const gh::op<Op>& op)
{
    until([&] { return op.status() != GH_PENDING; });
    return op.status();
}

static void begin(const char* address)
{
    gh::client_config config;
    config.address = gh::str(address);
    config.prefix = gh::str("hpp");
    config.hooks.assertion = count_assertion;
    EXPECT(client.init(config) == GH_OK);
    until([] { return client.ready(); });
}

// ---- what it does ---------------------------------------------------------------------------------------------------

static void texts_and_times()
{
    static_assert(gh::us(5s) == 5000000 && gh::us(-1s) == 0 && gh::us(0ms) == 0 && gh::us(1ms) == 1000);
    EXPECT(gh::view(gh::str("moor")) == "moor" && gh::view(gh_str_of(nullptr)).empty());
    EXPECT(gh::duration(1500) == 1500us);
}

static void entity_dies_with_busy_ops()
{
    struct entity
    {
        gh::lock held, waiting;
        gh::permit seat;
        gh::chat_say<> say;
        gh::command<> command;
    };
    gh::lock other;
    gh::lock_config at_once;
    at_once.wait_us = 0;
    std::optional<entity> dies(std::in_place);
    gh::semaphore_config one;
    one.limit = 1;
    dies->held.tell(1);
    EXPECT(dies->held.begin(client, "gate") == GH_OK && dies->waiting.begin(client, "gate") == GH_OK);
    EXPECT(dies->seat.begin(gh::semaphore(client, "arena", one)) == GH_OK);
    until([&] { return dies->held.held() && dies->seat.held(); });
    EXPECT(dies->held.remaining() > 1s && dies->held.fence().fence != 0);
    EXPECT(dies->say.begin(gh::chat(client, "raid"), "jason", std::string("short")) == GH_OK);
    EXPECT(dies->command.begin(client, {"GET", std::string("short")}) == GH_OK);
    dies.reset();
    for (gh::event e : client.events()) EXPECT(e.op == nullptr);
    until([] { return client.stats().ops_busy == 0; });
    EXPECT(other.begin(client, "gate", at_once) == GH_OK && end_of(other) == GH_HELD);
    other.release();
    EXPECT(end_of(other) == GH_OK);
}

// C's own ops in a vector: what it does when it grows is told at the next call.
static void vector_that_grows_is_told()
{
    static char bytes[1 << 16];
    std::pmr::monotonic_buffer_resource arena(bytes, sizeof bytes, std::pmr::null_memory_resource()); // keeps what was
    std::pmr::vector<gh_lock> locks(1, gh_lock GH_ZERO, &arena);
    gh_lock* before = &locks[0];
    EXPECT(gh_lock_begin(before, client, gh::str("tower"), nullptr) == GH_OK);
    locks.push_back(gh_lock GH_ZERO);
    EXPECT(&locks[0] != before && asserted == 0);
    EXPECT(gh_op_poll(&locks[0].op) == GH_INVALID_OP && asserted == 1);
    gh_op_detach(&before->op);
    asserted = 0;
    until([] { return client.stats().ops_busy == 0; });
}

static void failed_begin_is_an_event()
{
    gh::lock lock;
    gh::command<64, 8, 2> small;
    unsigned seen = 0;
    lock.tell(1, &lock);
    small.tell(2, &small);
    lock.begin(client, "");
    small.begin(client, {"SET", "a", "b"}); // more than two
    until([&] {
        for (gh::event e : client.events())
        {
            if (e.tag == 1) EXPECT(e.status == GH_INVALID_NAME && &e.of<gh::lock>() == &lock);
            if (e.tag == 2) EXPECT(e.status == GH_INVALID_ARGUMENTS && e.user == &small);
            seen++;
        }
        return seen == 2;
    });
    EXPECT(small.begin(client, {"ECHO", "12345"}) == GH_INVALID_ARGUMENTS); // beyond eight bytes
    EXPECT(client.last_invalid() == gh_status_text(GH_INVALID_ARGUMENTS));
    EXPECT(small.begin(client, {"ECHO", "1234"}) == GH_OK && end_of(small) == GH_OK);
    EXPECT(gh::view(small.reply()->text) == "1234");
}

// Values: copied, given to what begins, and gone behind it. What their making was answered, begins on them are.
static void objects_are_values()
{
    gh::chat_say<> say;
    gh::mailbox_fetch<> fetch;
    gh::permit seat;
    gh::op<gh_semaphore_limit> limit;
    gh::op<gh_semaphore_look> look;
    gh::semaphore arena;
    EXPECT(arena.status() == GH_INVALID_OBJECT && seat.begin(arena) == GH_INVALID_OBJECT);
    EXPECT(gh::chat(client, "").status() == GH_INVALID_NAME);
    EXPECT(say.begin(gh::chat(client, ""), "jason", "hello") == GH_INVALID_NAME);
    gh::mailbox_config wrong;
    wrong.capacity = 0;
    EXPECT(gh::mailbox(client, "jason", wrong).status() == GH_INVALID_LIMIT);
    EXPECT(client.last_invalid() == "capacity = 0, not within 1..100000");
    EXPECT(fetch.begin(gh::mailbox(client, "jason", wrong)) == GH_INVALID_LIMIT && fetch.status() == GH_INVALID_LIMIT);
    {
        const gh::semaphore made(client, std::string("park"));
        arena = made;
    }
    EXPECT(arena.status() == GH_OK && seat.begin(arena) == GH_INVALID_LIMIT); // its config says none
    EXPECT(limit.begin(gh_semaphore_limit_begin, arena, 2) == GH_OK && end_of(limit) == GH_OK);
    EXPECT(look.begin(gh_semaphore_look_begin, arena, nullptr, 0) == GH_OK && end_of(look) == GH_OK);
    EXPECT(look->limit == 2);
}

struct post_office
{
    unsigned delivered = 0;
    gh_task_action deliver(gh_task& task)
    {
        if (gh::view(task.payload) == "letter") delivered++;
        return GH_TASK_ACTION_DONE;
    }
};

static void worker_calls_members()
{
    post_office office;
    gh_task_handler handlers[] = {gh::handler<&post_office::deliver>("post", office)};
    gh::tasks_worker<2> worker;
    gh::task_push push;
    gh::op<gh_tasks_count> count;
    gh::queue_config want;
    want.keep_us = gh::us(10s);
    gh::queue post_box, bad(client, ""), mail(client, "office", want);
    EXPECT(push.begin(post_box, "post", "") == GH_INVALID_OBJECT && push.begin(bad, "post", "") == GH_INVALID_NAME);
    EXPECT(worker.begin(client, bad, handlers, 1) == GH_INVALID_TASK_QUEUES);
    EXPECT(worker.begin(client, nullptr, handlers, 1) == GH_INVALID_TASK_QUEUES);
    EXPECT(post_box.init(client, std::string("office")) == GH_OK);
    EXPECT(worker.begin(client, post_box, handlers, 1) == GH_OK);
    post_box = mail; // the worker has its own
    EXPECT(push.begin(post_box, "post", "letter", "one", 1ms) == GH_OK && end_of(push) == GH_OK);
    EXPECT(push.task_status() == GH_OK);
    until([&] { return office.delivered == 1; });
    EXPECT(count.begin(gh_tasks_count_begin, mail) == GH_OK && end_of(count) == GH_OK && count->handed_out <= 1);
    worker.end();
    EXPECT(end_of(worker) == GH_OK && worker->done == 1);
    EXPECT(count.begin(gh_tasks_count_begin, mail) == GH_OK && end_of(count) == GH_OK && count->remembered == 1);
}

static void mail_comes()
{
    gh::mailbox_push push;
    gh::mailbox_fetch<> fetch;
    gh_post post = GH_ZERO;
    unsigned count = 0;
    post.body = gh::str("your sword was sold");
    const gh::mailbox mailbox(client, std::string("jason"));
    EXPECT(mailbox.status() == GH_OK && push.begin(gh_mailbox_push_begin, mailbox, &post, 1) == GH_OK);
    EXPECT(fetch.begin(mailbox, 5s) == GH_OK && fetch.messages().begin() == fetch.messages().end());
    EXPECT(end_of(push) == GH_OK && end_of(fetch) == GH_OK);
    for (const gh_message& m : fetch.messages()) count += gh::view(m.body) == "your sword was sold";
    EXPECT(count == 1);
}

static void chat_is_heard()
{
    static gh::chat_feed<2, 4> feed;
    gh::chat_player jason, jeff;
    gh::chat_change open;
    gh::chat_say<8> say;
    const gh_str members[] = {gh::str("jason"), gh::str("jeff")};
    unsigned lines = 0;
    const gh::chat raid(client, "raid");
    EXPECT(open.begin(gh_chat_create_begin, raid, members, 2, nullptr) == GH_OK);
    EXPECT(end_of(open) == GH_OK && feed.begin(client) == GH_OK);
    EXPECT(feed.add(jason, "jason") == GH_OK && feed.add(jeff, "jeff") == GH_OK);
    EXPECT(say.begin(raid, "jason", "more than eight") == GH_INVALID_MESSAGES);
    EXPECT(say.begin(raid, "jason", std::string("ready?")) == GH_OK && end_of(say) == GH_OK);
    until([&] {
        for (gh::chat_line line : feed.lines())
        {
            EXPECT(line.text() == "ready?" && line.from() == "jason" && line.chat() == "raid");
            lines += line.to() == "jason" ? 1u : 10u;
            break; // in the midst of the room: it goes on there
        }
        return lines == 11;
    });
    for (int i = 0; i < 100; i++, client.tick(500us))
        for (gh::chat_line line : feed.lines()) EXPECT(line.text().empty()); // nothing twice
    feed.remove(jeff);
    feed.detach();
}

static void players_die_while_lines_are_shown()
{
    static gh::chat_feed<> feed;
    std::optional<gh::chat_player> players[3];
    const char* const names[] = {"ann", "bob", "cid"};
    const gh_str members[] = {gh::str("ann"), gh::str("bob"), gh::str("cid")};
    gh::chat_change open;
    gh::chat_say<> say;
    unsigned lines = 0;
    EXPECT(feed.begin(client) == GH_OK);
    const gh::chat duel(client, "duel");
    EXPECT(open.begin(gh_chat_create_begin, duel, members, 3, nullptr) == GH_OK);
    EXPECT(end_of(open) == GH_OK && say.begin(duel, "ann", "run!") == GH_OK && end_of(say) == GH_OK);
    for (int i = 0; i < 3; i++) EXPECT(feed.add(players[i].emplace(), names[i]) == GH_OK);
    until([&] { return feed->seats_used == 3; });
    const gh_chat_player* last = nullptr;
    until([&] {
        for (gh::chat_line line : feed.lines())
        {
            if (lines++ > 0) EXPECT(&line.player == last);
            for (gh_chat_seat* seat = nullptr; (seat = gh_chat_room_seat(&line.room, seat)) != nullptr;)
                last = seat->player;
            for (std::optional<gh::chat_player>& player : players)
                if (player && player->get() != last) player.reset(); // also whom the line is for
        }
        return lines > 0;
    });
    EXPECT(lines == 2);
    for (std::optional<gh::chat_player>& player : players) player.reset();
    EXPECT(feed->seats_used == 0);
}

static void contacts_complete()
{
    gh::contacts<10> recent(client, "jason");
    gh::contacts<1> small;
    gh::contacts_load load;
    gh::contacts_change touch;
    gh_contact found[4];
    EXPECT(recent.status() == GH_OK);
    EXPECT(load.begin(gh_contacts_load_begin, recent, nullptr) == GH_OK);
    EXPECT(end_of(load) == GH_OK);
    EXPECT(touch.begin(gh_contacts_touch_begin, small, "Mia") == GH_INVALID_OBJECT);
    EXPECT(small.status() == GH_INVALID_OBJECT && small.init(client, std::string("")) == GH_INVALID_NAME);
    EXPECT(touch.begin(gh_contacts_touch_begin, small, "Mia") == GH_INVALID_NAME && small.status() == GH_INVALID_NAME);
    EXPECT(touch.begin(gh_contacts_touch_begin, recent, "Mia") == GH_OK && end_of(touch) == GH_OK);
    EXPECT(gh_contacts_complete(recent, gh::str("mi"), found, 4) == 1 && gh::view(found[0].name) == "Mia");
}

// A value: copied, assigned, and gone as soon as the op has begun.
static void guild_is_a_value()
{
    static_assert(std::is_nothrow_copy_constructible_v<gh::guild> && std::is_nothrow_copy_assignable_v<gh::guild>);
    gh::guild_config want;
    gh::guild knights;
    gh::guild_change join;
    gh::guild_search search;
    gh_guild_member members[2] = {};
    gh_guild_search_config page = gh_guild_search_config_default();
    alignas(8) static char buffer[GH_GUILD_BUFFER_SIZE(10)];
    page.buffer = buffer;
    page.buffer_size = sizeof buffer;
    want.capacity = 1;
    want.timeout_us = gh::us(20s);
    members[0].name = gh::str("Jenny");
    members[1].name = gh::str("Jeff");
    EXPECT(knights.status() == GH_INVALID_OBJECT);
    EXPECT(join.begin(gh_guild_join_begin, knights, members, 1) == GH_INVALID_OBJECT);
    knights = gh::guild(client, std::string("knights"), want);
    EXPECT(knights.status() == GH_OK && gh::guild(client, "").status() == GH_INVALID_NAME);
    EXPECT(join.begin(gh_guild_join_begin, gh::guild(knights), members, 2) == GH_OK && end_of(join) == GH_FULL);
    EXPECT(members[0].status == GH_OK && members[1].status == GH_FULL);
    EXPECT(search.begin(gh_guild_complete_begin, gh::guild(client, "knights"), "je", &page) == GH_OK);
    EXPECT(end_of(search) == GH_OK && search->count == 1 && gh::view(search->hits[0].name) == "Jenny");
    EXPECT(search.begin(gh_guild_next_begin, knights) == GH_OK && end_of(search) == GH_EMPTY);
}

static void counters_and_rows()
{
    static gh::counters kills;
    alignas(16) static unsigned char memory[1 << 20];
    gh_counter counter;
    gh::op<gh_counter_read> read;
    gh::row_get get;
    gh_row_get_config want = gh_row_get_config_default();
    alignas(8) char row[256];
    gh::counters_config config;
    EXPECT(gh_counters_memory(&config) <= sizeof memory);
    EXPECT(kills.init(memory, sizeof memory, client, config) == GH_OK);
    EXPECT(gh_counters_open(kills, gh::str("kills"), &counter) == GH_OK && gh_counters_add(kills, counter, 3) == GH_OK);
    EXPECT(gh_counters_flush(kills) == GH_OK);
    until([] { return gh_counters_poll(kills) == GH_OK; });
    want.buffer = row;
    want.buffer_size = sizeof row;
    EXPECT(get.begin(gh_row_get_begin, client, "item 7", &want) == GH_OK && end_of(get) == GH_GONE);
    gh_counters_end(kills);
    until([] { return gh_counters_poll(kills) != GH_OK && gh_counters_poll(kills) != GH_PENDING; });
}

static void scripts_under_a_fence()
{
    gh::script raise("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    gh::command<> command;
    gh::command_config fenced;
    gh::lock lock;
    EXPECT(lock.begin(client, "vault") == GH_OK && end_of(lock) == GH_HELD);
    fenced.fence = lock.fence();
    EXPECT(command.run(client, raise, {"hpp:gold"}, {"7"}, fenced) == GH_OK && end_of(command) == GH_OK);
    EXPECT(command.reply()->integer == 7);
    lock.release();
    EXPECT(end_of(lock) == GH_OK);
    EXPECT(command.run(client, raise, {"hpp:gold"}, {"7"}, fenced) == GH_OK && end_of(command) == GH_FENCED);
    EXPECT(command.reply() == nullptr);
}

static void sets_are_taken_together()
{
    gh::lock_set set;
    gh_lock locks[2] = {};
    const gh_str names[] = {gh::str("sword"), gh::str("shield")};
    EXPECT(set.begin(gh_lock_set_begin, client, locks, names, 2, nullptr) == GH_OK && end_of(set) == GH_HELD);
    gh_lock_set_release(set.get());
    EXPECT(end_of(set) == GH_OK);
}

// A client in an op's place: whoever dies first, the other may follow.
static void op_outlives_its_client()
{
    gh::lock lock;
    EXPECT(lock.begin(client, "last") == GH_OK && end_of(lock) == GH_HELD);
    client.shutdown();
    EXPECT(!lock.busy() && client.tick() == GH_INVALID_CLIENT && !client.ready());
    for (gh::event e : client.events()) EXPECT(e.op == nullptr);
}

int main(int argc, char** argv)
{
    begin(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    texts_and_times();
    entity_dies_with_busy_ops();
    vector_that_grows_is_told();
    failed_begin_is_an_event();
    objects_are_values();
    worker_calls_members();
    mail_comes();
    chat_is_heard();
    players_die_while_lines_are_shown();
    contacts_complete();
    guild_is_a_value();
    counters_and_rows();
    scripts_under_a_fence();
    sets_are_taken_together();
    EXPECT(asserted == 0);
    op_outlives_its_client();
    EXPECT(heap_calls == 0);
    std::puts("all of it");
    return 0;
}
