/* Answers to what only reads, of a server that keeps the form of the script and not its sense: numbers that are none,
   entries out of order, more than was asked for. Each op ends as its header says, and what it gives is within what the
   caller gave it. In a world that is made up. */

#include "support/scene/on.h"
#include "support/server/odd.h"

#include <string.h>

#define NAME gh_str_literal("thing")

/* ---- members of a chat ------------------------------------------------------------------------------------------- */

typedef struct roster
{
    gh_chat_members op;
    gh_chat_member_item items[GH_CHAT_MEMBERS_MAX];
} roster;

static gh_op* ask_members(odd* self, roster* of, size_t capacity)
{
    assert_status(gh_chat_members_begin(&of->op, ON_CHAT(self->world->client, NAME), of->items, capacity), GH_OK);
    return &of->op.op;
}

static void members_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {
        "q:0|:7|:2|$0|$|$x",
        "q:0|:7|:2|$0|$|$0 5 ",
        "q:0|:7|:2|$0|$|$129 a5 ",
        "q:0|:7|:2|$0|$|$3 ab",
        "q:0|:7|:2|$0|$|$1 ax",
        "q:0|:7|:2|$0|$|$1 a9007199254740992 ",
        "q:0|:7|:2|$|$|$1 a5 ",
        "q:0|:7|:2|$123456789012345678901|$|$1 a5 ",
        "q:0|:7|:2|$0|$"
        "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb"
        "aaaaaaaaaabbbbbbbbbbaaaaaaaaa|$1 a5 "};
    odd* self = odd_start(NULL);
    roster* of = SCRIPTED_NEW(self->world, roster);
    ODD_EACH(self, ask_members(self, of, SIZE_MAX), broken, GH_CORRUPT);
    assert_status(odd_told(self, ask_members(self, of, SIZE_MAX), "q:0|:7|:1|$0|$|$1 a5 "), GH_OK);
    assert_int_equal(of->op.count, 1);
    assert_int_equal(of->items[0].seen, 5);
}

/* `needed` is more than there was room for, whatever the server counts. */
static void members_are_more_than_the_server_counts(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    roster* of = SCRIPTED_NEW(self->world, roster);
    assert_status(odd_told(self, ask_members(self, of, 1), "q:0|:7|:0|$0|$|$1 a5 1 b5 "), GH_TOO_SMALL);
    assert_int_equal(of->op.needed, 2);
    assert_status(odd_told(self, ask_members(self, of, 1), "q:0|:7|:4294967296|$0|$|$1 a5 1 b5 "), GH_TOO_SMALL);
    assert_int_equal(of->op.needed, UINT32_MAX);
}

static void chats_of_a_list_that_is_larger_than_any(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    gh_chat_item* items = scripted_keep(self->world, sizeof(*items) * GH_CHAT_LIST_MAX);
    gh_chat_list* op = SCRIPTED_NEW(self->world, gh_chat_list);
    assert_status(gh_chat_list_begin(op, self->world->client, NAME, items, GH_CHAT_LIST_MAX + 1, NULL), GH_OK);
    assert_status(odd_told(self, &op->op, "q:0|:5"), GH_EMPTY);
    assert_int_equal(op->count, 0);
}

/* ---- samples of a counter ---------------------------------------------------------------------------------------- */

typedef struct samples
{
    gh_counter_read op;
    gh_counter_sample list[3];
} samples;

static gh_op* ask_samples(odd* self, samples* of, bool fill_gaps)
{
    gh_counter_read_config config = gh_counter_read_config_default();
    config.samples = of->list;
    config.sample_count = 3;
    config.fill_gaps = fill_gaps;
    assert_status(gh_counter_read_begin(&of->op, self->world->client, NAME, &config), GH_OK);
    return &of->op.op;
}

static void samples_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {
        "q:0|:600|:1|$", "q:0|:600|:1|$x 1", "q:0|:600|:1|$600", "q:0|:600|:1|$600x1", "q:0|:600|:1|$600 ",
        "q:0|:600|:1|$600 -", "q:0|:600|:1|$600 1x", "q:0|:600|:1|$600 /", "q:0|:600|:1|$600 9007199254740992",
        "q:0|:600|:1|$600 90071992547409920", "q:0|:600|:1|:600",
        /* later than the newest, too old, of no slice, twice, out of order, too many */
        "q:0|:600|:1|$660 1", "q:0|:600|:1|$420 1", "q:0|:600|:1|$601 1", "q:0|:600|:1|$599 1",
        "q:0|:600|:1|$600 1|$600 1", "q:0|:600|:1|$540 1|$600 1", "q:0|:600|:1|$600 1|$540 1|$480 1|$420 1",
        "q:0|:601|:1", "q:0|:9007199254741020|:1"};
    odd* self = odd_start(NULL);
    samples* of = SCRIPTED_NEW(self->world, samples);
    ODD_EACH(self, ask_samples(self, of, false), broken, GH_CORRUPT);
    ODD_EACH(self, ask_samples(self, of, true), broken, GH_CORRUPT);
}

/* The sum stays within what a sum may be; a counter whose code says that there is more, and gives none, is at its end.
 */
static void samples_of_the_largest_size(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    samples* of = SCRIPTED_NEW(self->world, samples);
    assert_status(
        odd_told(self, ask_samples(self, of, false), "q:0|:600|:1|$600 9007199254740991|$540 9007199254740991"), GH_OK);
    assert_true(of->op.sum == GH_COUNTERS_SUM_MAX);
    assert_int_equal(of->op.deviation, 0);
    assert_status(
        odd_told(self, ask_samples(self, of, false), "q:0|:600|:1|$600 -9007199254740991|$540 -9007199254740991"),
        GH_OK);
    assert_true(of->op.sum == -GH_COUNTERS_SUM_MAX);
    assert_status(odd_told(self, ask_samples(self, of, false), "q:1|:600|:1"), GH_EMPTY);
    assert_status(
        odd_told_many(self, ask_samples(self, of, false), "q:1|:600|:1|$600 5", "q:1|:600|:1|$540 7", "q:0|:600|:1"),
        GH_OK);
    assert_int_equal(of->op.count, 2);
    assert_int_equal(of->op.sum, 12);
}

/* Nothing was before 1970. */
static void samples_of_the_first_minutes(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    samples* of = SCRIPTED_NEW(self->world, samples);
    assert_status(odd_told(self, ask_samples(self, of, true), "q:0|:60|:1|$60 5|$0 6"), GH_OK);
    assert_int_equal(of->op.count, 3);
    assert_int_equal(of->list[0].time_s, 0);
    assert_int_equal(of->op.sum, 11);
}

/* ---- names of counters ------------------------------------------------------------------------------------------- */

static void names_of_counters_that_are_none(void** state)
{
    (void)state;
    char many[512] = "a$a"; /* it asks for 64 at least */
    for (int i = 0; i < 64; i++) strcat(many, "|$a");
    const char* const broken[] = {"a:7", "a_", many};
    odd* self = odd_start(NULL);
    gh_counters_list* op = SCRIPTED_NEW(self->world, gh_counters_list);
    gh_name* names = scripted_keep(self->world, sizeof(*names));
    gh_counters_list_config config = gh_counters_list_config_default();
    config.names = names;
    config.name_count = 1;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
    {
        assert_status(gh_counters_list_begin(op, self->world->client, &config), GH_OK);
        assert_status(odd_told(self, &op->op, broken[i]), GH_CORRUPT);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

typedef struct listing
{
    gh_files_list op;
    gh_file_entry entries[GH_FILES_LIST_MAX + 1];
    char names[(GH_FILES_LIST_MAX + 1) * GH_NAME_SIZE_MAX];
} listing;

static gh_op* ask_files(odd* self, listing* of, size_t entries)
{
    gh_files_list_config config = gh_files_list_config_default();
    config.entries = of->entries;
    config.entry_count = entries;
    config.names = of->names;
    config.names_size = sizeof(of->names);
    assert_status(gh_files_list_begin(&of->op, self->world->client, NAME, &config), GH_OK);
    return &of->op.op;
}

static void files_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q:1",
                                         "q:1|$a",
                                         "q$1|$a|$5 7",
                                         "q:1|:1|$5 7",
                                         "q:1|$a|:7",
                                         "q:0|$a|$5 7",
                                         "q:-1|$a|$5 7",
                                         "q:9007199254740992|$a|$5 7",
                                         "q:1|$|$5 7",
                                         "q:1|$a|$",
                                         "q:1|$a|$5",
                                         "q:1|$a|$5 ",
                                         "q:1|$a|$ 5",
                                         "q:1|$a|$5 7 9",
                                         "q:1|$a|$5 x",
                                         "q:1|$a|$5 /",
                                         "q:1|$a|$1234567890123456789 1",
                                         "q:1|$a|$5 7|:2|$b|$5 8"};
    odd* self = odd_start(NULL);
    listing* of = SCRIPTED_NEW(self->world, listing);
    ODD_EACH(self, ask_files(self, of, 1), broken, GH_CORRUPT);
    assert_int_equal(of->op.count, 0);
    assert_status(odd_told(self, ask_files(self, of, GH_FILES_LIST_MAX + 1), "q:1|$a|$5 7"), GH_OK);
    assert_int_equal(of->op.count, 1);
    assert_int_equal(of->op.capacity, GH_FILES_LIST_MAX);
}

/* ---- guilds ------------------------------------------------------------------------------------------------------ */

typedef struct members
{
    gh_guild guild;
    gh_guild_search search;
    gh_guild_has has;
    gh_guild_size size;
    gh_guild_member of[2];
    _Alignas(8) char buffer[GH_GUILD_BUFFER_SIZE(2)];
} members;

static members* open_guild(odd* self)
{
    members* guild = SCRIPTED_NEW(self->world, members);
    assert_status(gh_guild_init(&guild->guild, self->world->client, NAME, NULL), GH_OK);
    guild->of[0].name = gh_str_literal("mia");
    guild->of[1].name = gh_str_literal("bob");
    return guild;
}

static gh_op* ask_who(members* guild)
{
    gh_guild_search_config config = gh_guild_search_config_default();
    config.limit = 2;
    config.buffer = guild->buffer;
    config.buffer_size = sizeof(guild->buffer);
    assert_status(gh_guild_complete_begin(&guild->search, &guild->guild, gh_str_of(""), &config), GH_OK);
    return &guild->search.op;
}

static gh_op* ask_whether(members* guild)
{
    assert_status(gh_guild_has_begin(&guild->has, &guild->guild, guild->of, 2), GH_OK);
    return &guild->has.op;
}

static gh_op* ask_how_many(members* guild)
{
    assert_status(gh_guild_size_begin(&guild->size, &guild->guild), GH_OK);
    return &guild->size.op;
}

/* "a$" and a member of so many bytes: its name, two zero bytes, and its name as it is shown or its id. */
static const char* member_of(odd* self, size_t name, size_t shown, size_t id)
{
    char* text = scripted_keep(self->world, name + shown + id + 8);
    char* at = text;
    *at++ = 'a';
    *at++ = '$';
    memset(at, 'n', name);
    at += name;
    *at++ = '^';
    *at++ = '^';
    memset(at, 's', shown);
    at += shown;
    if (id == 0) return text;
    *at++ = '^';
    *at++ = '^';
    memset(at, 'i', id);
    return text;
}

static void members_of_a_guild_that_are_none(void** state)
{
    (void)state;
    static const char* const no_members[] = {"a:7", "a_", "a$a^", "a$a^b", "a$^^", "a$a^^b^"};
    static const char* const no_scores[] = {"a", "a$1", "a$1|$1|$1", "a:1|$1", "a$1|:1"};
    static const char* const no_sizes[] = {"=$7", "=:-1", "=:4294967296", "=_"};
    odd* self = odd_start(NULL);
    members* guild = open_guild(self);
    ODD_EACH(self, ask_who(guild), no_members, GH_CORRUPT);
    assert_status(odd_told(self, ask_who(guild), member_of(self, 400, 0, 0)), GH_CORRUPT);
    assert_status(odd_told(self, ask_who(guild), member_of(self, GH_NAME_SIZE_MAX + 1, 0, 0)), GH_CORRUPT);
    assert_status(odd_told(self, ask_who(guild), member_of(self, 10, GH_NAME_SIZE_MAX + 1, 0)), GH_CORRUPT);
    assert_status(odd_told(self, ask_who(guild), member_of(self, 10, 10, GH_NAME_SIZE_MAX + 1)), GH_CORRUPT);
    assert_status(odd_told(self, ask_who(guild), member_of(self, GH_NAME_SIZE_MAX, GH_NAME_SIZE_MAX, GH_NAME_SIZE_MAX)),
                  GH_OK);
    assert_int_equal(guild->search.hits[0].id.size, GH_NAME_SIZE_MAX);
    ODD_EACH(self, ask_whether(guild), no_scores, GH_CORRUPT);
    ODD_EACH(self, ask_how_many(guild), no_sizes, GH_CORRUPT);
    assert_status(odd_told(self, ask_whether(guild), "a_|$1"), GH_OK);
    assert_status(guild->of[0].status, GH_NOT_MEMBER);
    assert_status(guild->of[1].status, GH_OK);
}

/* ---- totals of a day --------------------------------------------------------------------------------------------- */

typedef struct totals
{
    gh_aggregate_read op;
    gh_aggregate_total list[2];
    char text[64];
} totals;

static gh_op* ask_totals(odd* self, totals* of, gh_aggregate_level level)
{
    gh_aggregate_read_config config = gh_aggregate_read_config_default();
    config.totals = of->list;
    config.total_count = 2;
    config.text = of->text;
    config.text_size = sizeof(of->text);
    config.level = level;
    assert_status(gh_aggregate_read_begin(&of->op, self->world->client, NAME, gh_str_literal("2011-10-10"), &config),
                  GH_OK);
    return &of->op.op;
}

static void totals_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q$Peru",           "q:1|$7",
                                         "q$Peru|:7",        "q$Peru|$",
                                         "q$Peru|$7x",       "q$Peru|$/",
                                         "q$Peru|$1e9",      "q$Peru|$1234567890123456789",
                                         "q$Peru\tCusco|$7", "q$a|$7|$b|$6|$c|$5"};
    odd* self = odd_start(NULL);
    totals* of = SCRIPTED_NEW(self->world, totals);
    ODD_EACH(self, ask_totals(self, of, GH_AGGREGATE_COUNTRY), broken, GH_CORRUPT);
    assert_status(odd_told(self, ask_totals(self, of, GH_AGGREGATE_CITY), "q$Peru\tCusco|$7"), GH_CORRUPT);
    assert_status(odd_told(self, ask_totals(self, of, GH_AGGREGATE_CITY), "q$Peru\tCusco\tPisac|$7"), GH_OK);
    assert_int_equal(of->list[0].count, 7);
}

/* ---- mailboxes --------------------------------------------------------------------------------------------------- */

typedef struct letters
{
    gh_mailbox_fetch op;
    _Alignas(8) char buffer[1024];
} letters;

static gh_op* fetch_letters(odd* self, letters* of, bool newest, size_t buffer_size)
{
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.buffer = of->buffer;
    config.buffer_size = buffer_size;
    config.newest = newest;
    assert_status(gh_mailbox_fetch_begin(&of->op, ON_MAILBOX(self->world->client, NAME), &config), GH_OK);
    return &of->op.op;
}

/* code, epoch, first id, last id, now, oldest, read, epochs that are over, entries: "<id> <ms> <sender's size> ..." */
static void letters_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q:0|:3|:0|:9|:1000|:0|:0|$",
                                         "q:0|:3|:11|:9|:1000|:0|:0|$",
                                         "q:0|:3|:1|:9007199254740992|:1000|:0|:0|$",
                                         "q:0|:3|:1|:9|:1000|:9007199254741|:0|$",
                                         "q:0|:3|:1|:9|:1000|:0|:9007199254740992|$",
                                         "q:0|:9007199254740992|:1|:9|:1000|:0|:0|$",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$x",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$1",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$1:",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$0:4",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$1:10",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$1:5 2:4",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$1:5,2:6",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$9007199254740992:5",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$12345678901234567:5",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|:7",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$x 1 0 ",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1 x 0 ",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1 1 ",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1 1 x",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1 1 3 ab",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$0 1 0 a",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$9007199254740992 1 0 a",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1 9007199254741 0 a",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1 1 0 a|$3 1 0 a",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$1 1 0 a|$1 1 0 a",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$12345678901234567890 1 0 a",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$-",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$-65537 1 1 0 ",
                                         "q:0|:3|:1|:9|:1000|:0|:0|$|$-7 1 1 0 a"};
    odd* self = odd_start(NULL);
    letters* of = SCRIPTED_NEW(self->world, letters);
    ODD_EACH(self, fetch_letters(self, of, false, sizeof(of->buffer)), broken, GH_CORRUPT);
    ODD_EACH(self, fetch_letters(self, of, true, sizeof(of->buffer)), broken, GH_CORRUPT);
    assert_status(odd_told(self, fetch_letters(self, of, false, sizeof(of->buffer)),
                           "q:0|:3|:1|:2|:1000|:0|:0|$1:1 2:1|$1 1 1 ab|$2 2 0 "),
                  GH_OK);
    assert_int_equal(of->op.count, 2);
}

/* Of the newest, those that fit; one behind them that is none is told where it is copied. */
static void newest_letters_with_one_that_is_none(void** state)
{
    (void)state;
    odd* self = odd_start(NULL);
    letters* of = SCRIPTED_NEW(self->world, letters);
    const size_t room = 2 * sizeof(gh_message);
    assert_status(
        odd_told(self, fetch_letters(self, of, true, room), "q:0|:3|:1|:3|:1000|:0|:0|$|$1 1 0 |$2 1 0 |$3 1 0 "),
        GH_OK);
    assert_int_equal(of->op.count, 2);
    assert_int_equal(of->op.messages[0].id, 2);
    assert_status(odd_told(self, fetch_letters(self, of, true, room),
                           "q:0|:3|:1|:4|:1000|:0|:0|$|$1 1 0 |$2 1 0 |$3 1 0 |$x|$4 1 0 "),
                  GH_CORRUPT);
}

/* ---- semaphores, contacts, rows ---------------------------------------------------------------------------------- */

typedef struct readers
{
    gh_semaphore_look look;
    gh_permit_holder holders[2];
    gh_contacts contacts;
    gh_contacts_load load;
    gh_row_get get;
    char value[4];
    _Alignas(16) char memory[64 * 1024];
} readers;

static gh_op* look_at_permits(odd* self, readers* of)
{
    assert_status(gh_semaphore_look_begin(&of->look, ON_SEMAPHORE(self->world->client, NAME, 0), of->holders, 2),
                  GH_OK);
    return &of->look.op;
}

#define HOLDER "0123456789abcdef:0123456789abcdef "

static void holders_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q:4294967296|:1|:0|:5",
                                         "q:3|:4294967296|:0|:5",
                                         "q:3|:1|:4294967296|:5",
                                         "q:3|:1|:0|:5|$x|$9",
                                         "q:3|:1|:0|:5|$" HOLDER "|$9",
                                         "q:3|:1|:0|:5|$" HOLDER "x|$9",
                                         "q:3|:1|:0|:5|$" HOLDER "1000001|$9",
                                         "q:3|:1|:0|:5|$" HOLDER "/|$9",
                                         "q:3|:1|:0|:5|$" HOLDER "1x|$9",
                                         "q:3|:1|:0|:5|$" HOLDER "1|$",
                                         "q:3|:1|:0|:5|$" HOLDER "1|$x",
                                         "q:3|:1|:0|:5|$" HOLDER "1|$123456789012345678",
                                         "q:3|:1|:0|:5|$0123456789abcdef:0123456789abcdefx1|$9",
                                         "q:3|:1|:0|:5|$0123456789abcdef:0123456789abcdez 1|$9"};
    odd* self = odd_start(NULL);
    readers* of = SCRIPTED_NEW(self->world, readers);
    ODD_EACH(self, look_at_permits(self, of), broken, GH_CORRUPT);
    assert_status(odd_told(self, look_at_permits(self, of),
                           "q:3|:1|:0|:5|$" HOLDER "2|$9.5|$" HOLDER "1|$4|$" HOLDER "1|$9|$odd"),
                  GH_OK);
    assert_int_equal(of->look.count, 2);
    assert_true(of->holders[0].waiting);
    assert_int_equal(of->holders[0].remaining_us, 4);
    assert_int_equal(of->holders[1].remaining_us, 0);
}

static gh_op* load_contacts(odd* self, readers* of)
{
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = 2;
    assert_status(gh_contacts_init(&of->contacts, self->world->client, NAME, &config, of->memory, sizeof(of->memory)),
                  GH_OK);
    assert_status(gh_contacts_load_begin(&of->load, &of->contacts, NULL), GH_OK);
    return &of->load.op;
}

/* how many, with times, the version, names */
static void contacts_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {
        "q:1|:0|$v|:7",     "q:1|:0|$v|$",       "q:1|:1|$v|$mia",    "q:1|:1|$v|$mia|:7",
        "q:1|:1|$v|$mia|$", "q:1|:1|$v|$mia|$x", "q:1|:1|$v|$mia|$/", "q:1|:1|$v|$mia|$12345678901234567"};
    odd* self = odd_start(NULL);
    readers* of = SCRIPTED_NEW(self->world, readers);
    ODD_EACH(self, load_contacts(self, of), broken, GH_CORRUPT);
    assert_status(odd_told(self, load_contacts(self, of), "q:4294967296|:0|$v|$mia|$bob|$eve"), GH_OK);
    assert_int_equal(of->load.stored, UINT32_MAX);
    assert_int_equal(of->contacts.count, 2);
}

static gh_op* get_row(odd* self, readers* of)
{
    gh_row_get_config config = gh_row_get_config_default();
    config.buffer = of->value;
    config.buffer_size = sizeof(of->value);
    assert_status(gh_row_get_begin(&of->get, self->world->client, NAME, &config), GH_OK);
    return &of->get.op;
}

/* code, version, age, the longest age, size, now, bytes */
static void values_of_rows_that_are_none(void** state)
{
    (void)state;
    static const char* const broken[] = {"q:0|:1|:2|:9|:5|:7|$abcde", "q:0|:1|:2|:9|:5|:7|$abc",
                                         "q:9|:1|:2|:9|:3|:7|$abc"};
    static const char* const old[] = {"q:0|:1|:10|:9|:3|:7|$abc", "q:3|:1|:10|:9|:3|:7|$", "q:4|:1|:10|:9|:30|:7|$"};
    odd* self = odd_start(NULL);
    readers* of = SCRIPTED_NEW(self->world, readers);
    ODD_EACH(self, get_row(self, of), broken, GH_CORRUPT);
    ODD_EACH(self, get_row(self, of), old, GH_OLD);
    assert_status(odd_told(self, get_row(self, of), "q:3|:1|:9|:9|:3|:7|$"), GH_SAME);
    assert_status(odd_told(self, get_row(self, of), "q:4|:1|:9|:9|:30|:7|$"), GH_TOO_SMALL);
    assert_int_equal(of->get.value_size, 30);
}

TEST_FILE(odd_answers, cmocka_unit_test(members_that_are_none),
          cmocka_unit_test(members_are_more_than_the_server_counts),
          cmocka_unit_test(chats_of_a_list_that_is_larger_than_any), cmocka_unit_test(samples_that_are_none),
          cmocka_unit_test(samples_of_the_largest_size), cmocka_unit_test(samples_of_the_first_minutes),
          cmocka_unit_test(names_of_counters_that_are_none), cmocka_unit_test(files_that_are_none),
          cmocka_unit_test(members_of_a_guild_that_are_none), cmocka_unit_test(totals_that_are_none),
          cmocka_unit_test(letters_that_are_none), cmocka_unit_test(newest_letters_with_one_that_is_none),
          cmocka_unit_test(holders_that_are_none), cmocka_unit_test(contacts_that_are_none),
          cmocka_unit_test(values_of_rows_that_are_none));
