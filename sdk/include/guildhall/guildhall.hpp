// guildhall/guildhall.hpp -- Guildhall for C++17, on top of the C headers, which say what each thing does.
//
//     gh::client_in<> client;                                   its memory inside; shut down in its destructor
//     if (client.init(config) != GH_OK) ...
//
//     struct player { gh::lock seat; gh::chat_say<> say; };     dies at any time, whatever is busy in it
//     jason.seat.tell(SEAT, &jason);                            what client.events() will say of it
//     jason.seat.begin(client, "castle gate");
//     ... each frame:
//     client.tick(500us);
//     for (gh::event e : client.events())
//         if (e.tag == SEAT) e.of<player>().seat_changed(e.status);
//
// Ops      gh::op<gh_mailbox_push> and so on: each op of the C headers, zeroed, never copied nor moved; its destructor
//          detaches it (gh_op_detach): a lock is given back, everything else is let go. begin takes any begin of the C
//          headers: op.begin(gh_mailbox_push_begin, mailbox, &post, 1). The names below add what is pleasant to each. A
//          begin that is refused is an end as any other, seen in events(), so what it returns may be passed over.
// Objects  gh::chat raid(client, "raid 7"): a value that ops are begun on, op.begin(gh_chat_leave_begin, raid, "mia").
// In       std::string_view where C takes a gh_str, std::chrono where it takes microseconds; less than nothing is 0.
// Out      statuses and structs are those of C. Nothing here allocates, throws, or keeps anything outside of itself.
// Borrowed what the C headers borrow, these borrow: an op on gh::contacts or with posts stands behind them in its
//          struct, so that it goes first. gh::chat_say and gh::command copy what they are given.

#ifndef GUILDHALL_GUILDHALL_HPP
#define GUILDHALL_GUILDHALL_HPP

#include "guildhall/guildhall.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gh
{

// ---- in and out -----------------------------------------------------------------------------------------------------

[[nodiscard]] inline gh_str str(std::string_view text) noexcept { return gh_str_make(text.data(), text.size()); }

[[nodiscard]] inline std::string_view view(gh_str text) noexcept { return std::string_view(text.bytes, text.size); }

template <class Rep, class Period>
[[nodiscard]] constexpr std::uint64_t us(std::chrono::duration<Rep, Period> time) noexcept
{
    return time <= time.zero()
               ? 0
               : static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

[[nodiscard]] inline std::chrono::microseconds duration(std::uint64_t time_us) noexcept
{
    return std::chrono::microseconds(static_cast<std::chrono::microseconds::rep>(time_us));
}

namespace detail
{
template <class T> struct is_duration : std::false_type {};
template <class Rep, class Period> struct is_duration<std::chrono::duration<Rep, Period>> : std::true_type {};

template <class T>
inline constexpr bool is_text =
    std::is_convertible_v<T, std::string_view> && !std::is_null_pointer_v<std::remove_reference_t<T>>;

// An argument as C wants it.
template <class Wanted, class Given> Wanted in(Given&& argument) noexcept
{
    if constexpr (std::is_same_v<Wanted, gh_str> && is_text<Given>)
        return str(argument);
    else if constexpr (is_duration<std::decay_t<Given>>::value)
        return us(argument);
    else
        return static_cast<Wanted>(std::forward<Given>(argument));
}
} // namespace detail

// Some things behind one another, somebody else's.
template <class T> struct span
{
    const T* first;
    std::size_t count;

    [[nodiscard]] const T* begin() const noexcept { return first; }
    [[nodiscard]] const T* end() const noexcept { return first + count; }
};

// What all loops here end at.
struct end_of_loop {};

// ---- the client -----------------------------------------------------------------------------------------------------

// An op whose status has changed.
struct event
{
    gh_op* op;
    void* user;
    std::uint32_t tag;
    gh_status status;

    // What was given to tell() with this tag.
    template <class T> [[nodiscard]] T& of() const noexcept { return *static_cast<T*>(user); }
};

// What happened, each once: for (gh::event e : client.events()). Any op may be begun or destroyed in the loop.
class events
{
  public:
    class iterator
    {
      public:
        explicit iterator(gh_client* client) noexcept : client_(client), op_(gh_client_next(client)) {}
        [[nodiscard]] event operator*() const noexcept { return {op_, op_->user, op_->tag, op_->status}; }
        iterator& operator++() noexcept { return op_ = gh_client_next(client_), *this; }
        [[nodiscard]] bool operator!=(end_of_loop) const noexcept { return op_ != nullptr; }

      private:
        gh_client* client_;
        gh_op* op_;
    };

    explicit events(gh_client* client) noexcept : client_(client) {}
    [[nodiscard]] iterator begin() const noexcept { return iterator(client_); }
    [[nodiscard]] end_of_loop end() const noexcept { return {}; }

  private:
    gh_client* client_;
};

// Shuts the client down in its destructor, if it is one that init has made.
class client
{
  public:
    client() noexcept = default;
    explicit client(gh_client* of_somebody_else) noexcept : client_(of_somebody_else) {}
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client() { shutdown(); }

    // The memory is yours and outlives this; its size is gh_client_memory's answer, at an alignment of 16.
    [[nodiscard]] gh_status init(void* memory, std::size_t size, const gh_client_config& config,
                                 const gh_platform* platform = gh_platform_default()) noexcept
    {
        shutdown();
        gh_status status = gh_client_init(memory, size, &config, platform, &client_);
        owned_ = status == GH_OK;
        return status;
    }

    void shutdown() noexcept
    {
        if (owned_) gh_client_shutdown(client_);
        client_ = nullptr;
        owned_ = false;
    }

    // By the platform's clock, or by yours. No budget: no bound.
    gh_status tick(std::chrono::microseconds budget = {}) noexcept { return gh_client_tick(client_, us(budget)); }
    gh_status tick_at(std::chrono::microseconds now, std::chrono::microseconds budget = {}) noexcept
    {
        return gh_tick(client_, us(now), us(budget));
    }

    [[nodiscard]] gh::events events() const noexcept { return gh::events(client_); }
    [[nodiscard]] bool ready() const noexcept { return gh_client_ready(client_); }

    [[nodiscard]] gh_client_stats stats() const noexcept
    {
        gh_client_stats stats = GH_ZERO;
        return gh_client_get_stats(client_, &stats), stats;
    }

    // Which argument of the last refused call it was, and within what it must be.
    [[nodiscard]] std::string_view last_invalid() const noexcept { return view(gh_client_last_invalid(client_)); }

    operator gh_client*() const noexcept { return client_; } // it goes wherever C wants one

  private:
    gh_client* client_ = nullptr;
    bool owned_ = false;
};

// A client with its memory: for a static, or a member of your server. Mind the stack.
template <std::size_t Size = GH_CLIENT_MEMORY_DEFAULT> class client_in : public client
{
  public:
    client_in() noexcept = default;
    ~client_in() { shutdown(); }

    [[nodiscard]] gh_status init(const gh_client_config& config,
                                 const gh_platform* platform = gh_platform_default()) noexcept
    {
        return client::init(memory_, sizeof memory_, config, platform);
    }

  private:
    alignas(16) unsigned char memory_[Size];
};

// A config with its defaults, and the fields of C: gh::lock_config want; want.wait_us = gh::us(5s);
template <class Config, Config (*Default)()> struct config : Config
{
    config() noexcept : Config(Default()) {}
};

struct client_config : gh_client_config { client_config() noexcept : gh_client_config(gh_client_config_default()) {} };
using lock_config = config<gh_lock_config, gh_lock_config_default>;
using semaphore_config = config<gh_semaphore_config, gh_semaphore_config_default>;
using permit_config = config<gh_permit_config, gh_permit_config_default>;
using queue_config = config<gh_queue_config, gh_queue_config_default>;
using tasks_worker_config = config<gh_tasks_worker_config, gh_tasks_worker_config_default>;
using mailbox_config = config<gh_mailbox_config, gh_mailbox_config_default>;
using mailbox_fetch_config = config<gh_mailbox_fetch_config, gh_mailbox_fetch_config_default>;
using chat_config = config<gh_chat_config, gh_chat_config_default>;
using contacts_config = config<gh_contacts_config, gh_contacts_config_default>;
using guild_config = config<gh_guild_config, gh_guild_config_default>;
using counters_config = config<gh_counters_config, gh_counters_config_default>;
using command_config = config<gh_command_config, gh_command_config_default>;

// ---- objects --------------------------------------------------------------------------------------------------------

// What ops are begun on, with its settings: copied freely, and nothing points to it once a begin has returned. One that
// was not made well may be used: each begin on it ends as status() says.
template <class Object, class Config, Config (*Default)(),
          gh_status (*Init)(Object*, gh_client*, gh_str, const Config*)>
class object
{
  public:
    object() noexcept = default; // GH_INVALID_OBJECT, until it is assigned
    object(gh_client* by, std::string_view name, const Config& want = Default()) noexcept
        : status_(Init(&raw_, by, str(name), &want)) {}

    // Later, for a member or an array.
    gh_status init(gh_client* by, std::string_view name, const Config& want = Default()) noexcept
    {
        return status_ = Init(&raw_, by, str(name), &want);
    }

    [[nodiscard]] gh_status status() const noexcept { return status_; }
    operator const Object*() const noexcept { return &raw_; }

  private:
    Object raw_ = GH_ZERO;
    gh_status status_ = GH_INVALID_OBJECT;
};

using queue = object<gh_queue, gh_queue_config, gh_queue_config_default, gh_queue_init>;
using chat = object<gh_chat, gh_chat_config, gh_chat_config_default, gh_chat_init>;
using mailbox = object<gh_mailbox, gh_mailbox_config, gh_mailbox_config_default, gh_mailbox_init>;
using semaphore = object<gh_semaphore, gh_semaphore_config, gh_semaphore_config_default, gh_semaphore_init>;
using guild = object<gh_guild, gh_guild_config, gh_guild_config_default, gh_guild_init>;

// ---- ops ------------------------------------------------------------------------------------------------------------

// Any op of the C headers.
template <class Op> class op
{
    static_assert(std::is_trivial_v<Op> && offsetof(Op, op) == 0, "an op begins with its gh_op");

  public:
    op() noexcept { std::memset(&raw_, 0, sizeof raw_); }
    op(const op&) = delete;
    op& operator=(const op&) = delete;
    ~op() { detach(); }

    // A tag that is not 0: each change comes in client.events(), with tag and user.
    template <class Tag> void tell(Tag tag, void* user = nullptr) noexcept
    {
        raw_.op.tag = static_cast<std::uint32_t>(tag);
        raw_.op.user = user;
    }

    // Any begin of the C headers for this op: what stands behind the op there, stands behind the function here.
    template <class... Wanted, class... Given>
    gh_status begin(gh_status (*function)(Op*, Wanted...), Given&&... arguments) noexcept
    {
        return function(&raw_, detail::in<Wanted>(std::forward<Given>(arguments))...);
    }

    [[nodiscard]] gh_status status() const noexcept { return gh_op_poll(&raw_.op); }
    [[nodiscard]] bool busy() const noexcept { return gh_op_is_busy(&raw_.op); }
    void cancel() noexcept { gh_op_cancel(&raw_.op); }
    void detach() noexcept { gh_op_detach(&raw_.op); }

    [[nodiscard]] Op* get() noexcept { return &raw_; }
    [[nodiscard]] const Op* get() const noexcept { return &raw_; }
    Op* operator->() noexcept { return &raw_; }
    const Op* operator->() const noexcept { return &raw_; }

  private:
    Op raw_;
};

// Those that need nothing more: change.begin(gh_chat_join_begin, raid, "jason", GH_CHAT_FROM_NOW).
using chat_change = op<gh_chat_change>;
using contacts_change = op<gh_contacts_change>;
using contacts_load = op<gh_contacts_load>;
using guild_change = op<gh_guild_change>;
using guild_search = op<gh_guild_search>;
using lock_set = op<gh_lock_set>;
using mailbox_push = op<gh_mailbox_push>;
using row_get = op<gh_row_get>;

// ---- locks and permits ----------------------------------------------------------------------------------------------

class lock : public op<gh_lock>
{
  public:
    using op::begin;
    gh_status begin(gh_client* client, std::string_view name, const gh_lock_config& want = lock_config()) noexcept
    {
        return gh_lock_begin(get(), client, str(name), &want);
    }

    [[nodiscard]] bool held() const noexcept { return status() == GH_HELD; }
    [[nodiscard]] gh_fence fence() const noexcept { return gh_lock_fence(get()); }
    [[nodiscard]] std::chrono::microseconds remaining() const noexcept { return duration(gh_lock_remaining_us(get())); }
    void release() noexcept { gh_lock_release(get()); }
};

class permit : public op<gh_permit>
{
  public:
    using op::begin;
    gh_status begin(const gh_semaphore* on, const gh_permit_config& want = permit_config()) noexcept
    {
        return gh_permit_begin(get(), on, &want);
    }

    [[nodiscard]] bool held() const noexcept { return status() == GH_HELD; }
    void release() noexcept { gh_permit_release(get()); }
};

// ---- tasks ----------------------------------------------------------------------------------------------------------

// One task; handler, payload and id are borrowed until the op ends.
class task_push : public op<gh_tasks_push>
{
  public:
    gh_status begin(const gh_queue* on, std::string_view handler, std::string_view payload,
                    std::string_view id = {}, std::chrono::microseconds delay = {}) noexcept
    {
        if (busy()) return GH_INVALID_OP;
        std::memset(&task_, 0, sizeof task_);
        task_.handler = str(handler);
        task_.payload = str(payload);
        task_.id = str(id);
        task_.delay_us = us(delay);
        return gh_tasks_push_begin(get(), on, &task_, 1);
    }

    // GH_OK, GH_TASK_EXISTS, ...: see gh_task_spec.
    [[nodiscard]] gh_status task_status() const noexcept { return task_.status; }

  private:
    gh_task_spec task_ = GH_ZERO;
};

// A row of a worker's table of handlers. Function is a member of T, or a function of a T& : gh_task_action (gh_task&).
// The name is borrowed, and so is who, until the worker has ended.
template <auto Function, class T> [[nodiscard]] gh_task_handler handler(std::string_view name, T& who) noexcept
{
    gh_task_handler made = GH_ZERO;
    made.name = str(name);
    made.context = &who;
    made.function = [](void* context, gh_task* task) noexcept -> gh_task_action
    { return std::invoke(Function, *static_cast<T*>(context), *task); };
    return made;
}

// A worker with Slots tasks at a time, of SlotSize bytes each with id, payload and result: see gh_tasks_worker_config.
template <std::size_t Slots = 8, std::size_t SlotSize = 1024> class tasks_worker : public op<gh_tasks_worker>
{
  public:
    tasks_worker() noexcept { std::memset(slots_, 0, sizeof slots_); }
    ~tasks_worker() { detach(); }

    // The queue is copied, the handlers are borrowed until the worker has ended.
    gh_status begin(gh_client* client, const gh_queue* from, gh_task_handler* handlers,
                    std::size_t handler_count) noexcept
    {
        tasks_worker_config config;
        if (busy()) return GH_INVALID_OP;
        if (from != nullptr) from_ = *from;
        queue_.queue = from == nullptr ? nullptr : &from_;
        config.handlers = handlers;
        config.handler_count = handler_count;
        config.queues = &queue_;
        config.queue_count = 1;
        config.slots = slots_;
        config.slot_count = Slots;
        config.memory = memory_;
        config.memory_size = sizeof memory_;
        return gh_tasks_worker_begin(get(), client, &config);
    }

    void end() noexcept { gh_tasks_worker_end(get()); }

  private:
    gh_queue from_ = GH_ZERO;
    gh_tasks_worker_queue queue_ = GH_ZERO;
    gh_task slots_[Slots];
    alignas(8) char memory_[Slots * SlotSize];
};

// ---- mailboxes ------------------------------------------------------------------------------------------------------

// Reads into Size bytes of its own: for (const gh_message& m : fetch.messages()), until the next begin.
template <std::size_t Size = 16 * 1024> class mailbox_fetch : public op<gh_mailbox_fetch>
{
  public:
    ~mailbox_fetch() { detach(); }

    gh_status begin(const gh_mailbox* on, std::chrono::microseconds wait = {},
                    const gh_mailbox_fetch_config& want = mailbox_fetch_config()) noexcept
    {
        gh_mailbox_fetch_config config = want;
        config.wait_us = us(wait);
        config.buffer = buffer_;
        config.buffer_size = sizeof buffer_;
        return gh_mailbox_fetch_begin(get(), on, &config);
    }

    [[nodiscard]] span<gh_message> messages() const noexcept
    {
        return {get()->messages, status() == GH_OK ? get()->count : 0};
    }

  private:
    alignas(8) char buffer_[Size];
};

// ---- chats ----------------------------------------------------------------------------------------------------------

// One line of a player's. It is copied; one that is longer than Size is refused, as GH_INVALID_MESSAGES.
template <std::size_t Size = 256> class chat_say : public op<gh_chat_send>
{
    static_assert(Size >= 1 && Size <= GH_MESSAGE_SIZE_MAX, "see GH_MESSAGE_SIZE_MAX");

  public:
    ~chat_say() { detach(); }

    gh_status begin(const gh_chat* on, std::string_view player, std::string_view text) noexcept
    {
        if (busy()) return GH_INVALID_OP;
        const bool fits = player.size() <= sizeof player_ && text.size() <= sizeof text_;
        post_.sender = copy(player_, fits ? player : std::string_view());
        post_.body = copy(text_, fits ? text : std::string_view());
        return gh_chat_send_begin(get(), on, fits ? &post_ : nullptr, 1);
    }

  private:
    static gh_str copy(char* to, std::string_view from) noexcept
    {
        if (!from.empty()) std::memcpy(to, from.data(), from.size());
        return gh_str_make(to, from.size());
    }

    gh_post post_ = GH_ZERO;
    char player_[GH_NAME_SIZE_MAX];
    char text_[Size];
};

// A message that is new to a player of this server.
struct chat_line
{
    const gh_chat_room& room;
    const gh_chat_player& player;
    const gh_message& message;

    [[nodiscard]] std::string_view chat() const noexcept { return view(room.name); }
    [[nodiscard]] std::string_view to() const noexcept { return view(player.name); }
    [[nodiscard]] std::string_view from() const noexcept { return view(message.sender); }
    [[nodiscard]] std::string_view text() const noexcept { return view(message.body); }
};

// The lines that are there. Players may leave or be destroyed in the loop, but not the feed. A loop that is left in the
// midst goes on behind that line the next time. A room is handled, for all its players, once the loop has passed it.
class chat_lines
{
  public:
    class iterator
    {
      public:
        explicit iterator(chat_lines& lines) noexcept : lines_(&lines) {}
        [[nodiscard]] chat_line operator*() const noexcept { return lines_->line(); }
        iterator& operator++() noexcept { return lines_->go_on(lines_->seat_->state != 0), *this; }
        [[nodiscard]] bool operator!=(end_of_loop) const noexcept { return lines_->room_ != nullptr; }

      private:
        chat_lines* lines_;
    };

    explicit chat_lines(gh_chat_feed* feed) noexcept : feed_(feed) {}
    chat_lines(const chat_lines&) = delete;
    chat_lines& operator=(const chat_lines&) = delete;
    void forget() noexcept { room_ = nullptr; }

    [[nodiscard]] iterator begin() noexcept
    {
        gh_chat_seat* seat = gh_chat_room_seat(room_, nullptr);
        while (seat != nullptr && seat != seat_) seat = gh_chat_room_seat(room_, seat);
        room_ == nullptr ? find() : go_on(seat != nullptr);
        return iterator(*this);
    }
    [[nodiscard]] end_of_loop end() const noexcept { return {}; }

  private:
    [[nodiscard]] chat_line line() const noexcept { return {*room_, *seat_->player, room_->fetch.messages[at_]}; }

    // Behind this line; if whom it was for has left, it comes again to the others.
    void go_on(bool is_there) noexcept
    {
        seat_ = gh_chat_room_seat(room_, is_there ? seat_ : nullptr);
        if (is_there && seat_ == nullptr) next_message();
        find();
    }

    void next_message() noexcept
    {
        at_++;
        seat_ = gh_chat_room_seat(room_, nullptr);
    }

    // This line, or the next that is new to somebody.
    void find() noexcept
    {
        for (;; room_ = nullptr)
        {
            if (room_ == nullptr)
            {
                if ((room_ = gh_chat_feed_next(feed_)) == nullptr) return;
                at_ = 0;
                seat_ = gh_chat_room_seat(room_, nullptr);
            }
            for (; at_ < room_->fetch.count; next_message())
                for (; seat_ != nullptr; seat_ = gh_chat_room_seat(room_, seat_))
                    if (room_->fetch.messages[at_].id > seat_->member.from) return;
            gh_chat_feed_done(feed_, room_, true);
        }
    }

    gh_chat_feed* feed_;
    gh_chat_room* room_ = nullptr;
    gh_chat_seat* seat_ = nullptr;
    std::uint32_t at_ = 0;
};

// A player in a feed; it leaves the feed in its destructor, in any order with the feed's.
using chat_player = op<gh_chat_player>;

// All chats of the players of this server, in memory of its own.
template <std::size_t Rooms = 16, std::size_t Seats = 64, std::size_t RoomSize = GH_CHAT_ROOM_SIZE_MIN>
class chat_feed : public op<gh_chat_feed>
{
  public:
    chat_feed() noexcept : lines_(get()) {}
    ~chat_feed() { detach(); }

    gh_status begin(gh_client* client) noexcept
    {
        gh_chat_feed_config config = gh_chat_feed_config_default();
        config.rooms = rooms_;
        config.room_count = Rooms;
        config.seats = seats_;
        config.seat_count = Seats;
        config.buffer = buffer_;
        config.buffer_size = sizeof buffer_;
        return gh_chat_feed_begin(get(), client, &config);
    }

    gh_status add(chat_player& player, std::string_view name) noexcept
    {
        return gh_chat_feed_add(get(), player.get(), str(name));
    }
    void remove(chat_player& player) noexcept { gh_chat_feed_remove(get(), player.get()); }

    [[nodiscard]] chat_lines& lines() noexcept
    {
        if (!busy()) lines_.forget(); // its rooms are nobody's
        return lines_;
    }

  private:
    chat_lines lines_;
    gh_chat_room rooms_[Rooms];
    gh_chat_seat seats_[Seats];
    alignas(8) char buffer_[Rooms * RoomSize];
};

// ---- contacts -------------------------------------------------------------------------------------------------------

// An owner's contacts, mirrored in memory of its own. Ops on it stand behind it in your struct, and go first.
template <std::uint32_t Capacity = 100> class contacts
{
  public:
    contacts() noexcept = default; // GH_INVALID_OBJECT, until init
    contacts(gh_client* by, std::string_view owner) noexcept { init(by, owner); }
    contacts(const contacts&) = delete;
    contacts& operator=(const contacts&) = delete;

    // Not while an op on it is busy. Capacity is that of the template.
    gh_status init(gh_client* client, std::string_view owner, gh_contacts_config want = contacts_config()) noexcept
    {
        want.capacity = Capacity;
        return status_ = gh_contacts_init(&raw_, client, str(owner), &want, memory_, sizeof memory_);
    }

    [[nodiscard]] gh_status status() const noexcept { return status_; }
    operator gh_contacts*() noexcept { return &raw_; }

  private:
    gh_contacts raw_ = GH_ZERO;
    gh_status status_ = GH_INVALID_OBJECT;
    alignas(8) unsigned char memory_[1024 + Capacity * 192u];
};

// ---- counters -------------------------------------------------------------------------------------------------------

// Counters in memory of yours. The destructor begins their end, which flushes: the memory stays in place until
// gh_counters_poll says that they have ended, or until the client is shut down.
class counters
{
  public:
    counters() noexcept = default;
    counters(const counters&) = delete;
    counters& operator=(const counters&) = delete;
    ~counters() { gh_counters_end(counters_); }

    [[nodiscard]] gh_status init(void* memory, std::size_t size, gh_client* client,
                                 const gh_counters_config& config = counters_config()) noexcept
    {
        return gh_counters_init(&counters_, client, &config, memory, size);
    }

    operator gh_counters*() const noexcept { return counters_; }

  private:
    gh_counters* counters_ = nullptr;
};

} // namespace gh

#include "guildhall/command.hpp"

#endif
