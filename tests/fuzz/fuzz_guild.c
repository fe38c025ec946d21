/* fuzz_guild.c -- members that join and leave a guild, and names that are completed page by page, over a store that
   keeps a sorted list of bytes, against a list of players that is looked through.

   The peer does what guild_join.lua, guild_leave.lua and ZRANGE BYLEX do. It knows nothing of folding or of pages; the
   model knows nothing of bytes. */

#include "world.h"

#define MEMBERS_MAX 24u
#define STORED_MAX  400u
#define LIMIT_MAX   3u

typedef struct stored
{
    size_t size;
    char bytes[STORED_MAX];
} stored;

typedef struct player
{
    gh_name name;
    gh_name id;
} player;

typedef struct game
{
    world* world;
    fuzz_input input;
    stored store[MEMBERS_MAX]; /* sorted by bytes */
    size_t store_count;
    player players[MEMBERS_MAX];
    size_t player_count;
    gh_fold fold;
    gh_guild guild;
} game;

/* ---- the store --------------------------------------------------------------------------------------------------- */

static int compare(gh_str a, gh_str b)
{
    const size_t size = a.size < b.size ? a.size : b.size;
    const int order = size > 0 ? memcmp(a.bytes, b.bytes, size) : 0;
    return order != 0 ? order : a.size < b.size ? -1 : a.size > b.size;
}

static gh_str bytes_of(const stored* one)
{
    return gh_str_make(one->bytes, one->size);
}

static void add_bytes(stored* to, const char* bytes, size_t size)
{
    FUZZ_MUST(to->size + size <= STORED_MAX);
    if (size > 0) memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void add_escaped(stored* to, gh_str text)
{
    for (size_t i = 0; i < text.size; i++)
    {
        add_bytes(to, text.bytes + i, 1);
        if (text.bytes[i] == 0) add_bytes(to, "\xff", 1);
    }
}

/* As guild_members.lua makes them of a folded form, a name and an id. */
static stored make_stored(const gh_str* three)
{
    stored made = {.size = 0};
    add_escaped(&made, three[0]);
    add_bytes(&made, "\0\0", 2);
    if (!gh_str_equal(three[0], three[1])) add_escaped(&made, three[1]);
    if (three[2].size > 0) add_bytes(&made, "\0\0", 2);
    add_bytes(&made, three[2].bytes, three[2].size);
    return made;
}

/* Where it is, or belongs. */
static size_t place_of(const game* self, gh_str bytes, bool* is_there)
{
    size_t at = 0;
    while (at < self->store_count && compare(bytes_of(&self->store[at]), bytes) < 0) at++;
    *is_there = at < self->store_count && compare(bytes_of(&self->store[at]), bytes) == 0;
    return at;
}

static char join_one(game* self, const stored* member)
{
    bool is_there;
    const size_t at = place_of(self, bytes_of(member), &is_there);
    if (is_there) return 'm';
    if (self->store_count == MEMBERS_MAX) return 'f';
    memmove(self->store + at + 1, self->store + at, (self->store_count - at) * sizeof(stored));
    self->store[at] = *member;
    self->store_count++;
    return 'j';
}

static char leave_one(game* self, const stored* member)
{
    bool is_there;
    const size_t at = place_of(self, bytes_of(member), &is_there);
    if (!is_there) return 'n';
    self->store_count--;
    memmove(self->store + at, self->store + at + 1, (self->store_count - at) * sizeof(stored));
    return 'l';
}

static void answer_change(game* self, const world_request* request, bool joins, resp_text* reply)
{
    char letters[MEMBERS_MAX], text[128];
    size_t count = 0;
    const size_t first = 3 + request->keys + (joins ? 3 : 2);
    for (size_t at = first; at + 2 < request->count + 0; at += 3)
    {
        const stored member = make_stored(request->words + at);
        letters[count++] = joins ? join_one(self, &member) : leave_one(self, &member);
    }
    resp_text made = {text, 0, sizeof(text), false};
    resp_print(&made, "%llu 0 %zu ", (unsigned long long)request->sequence, self->store_count);
    resp_put(&made, letters, count);
    resp_bulk(reply, gh_str_make(text, made.size));
}

/* "-", "+", "[bytes", "(bytes". */
static bool is_behind_bound(gh_str bytes, gh_str bound, bool is_least)
{
    const gh_str rest = gh_str_make(bound.bytes + 1, bound.size - 1);
    const int order = compare(bytes, rest);
    FUZZ_MUST(bound.size >= 1);
    if (resp_is(bound, "-") || resp_is(bound, "+")) return is_least == resp_is(bound, "-");
    FUZZ_MUST(bound.bytes[0] == '[' || bound.bytes[0] == '(');
    if (order == 0) return bound.bytes[0] == '[';
    return is_least ? order > 0 : order < 0;
}

static void answer_range(const game* self, const world_request* request, resp_text* reply)
{
    uint64_t most;
    size_t first = 0, count = 0;
    FUZZ_MUST(request->count == 8 && resp_is(request->words[4], "BYLEX") && resp_is(request->words[5], "LIMIT"));
    FUZZ_MUST(resp_is(request->words[6], "0") && resp_is_number(request->words[7], &most) && most >= 1);
    while (first < self->store_count && !is_behind_bound(bytes_of(&self->store[first]), request->words[2], true))
        first++;
    while (count < most && first + count < self->store_count &&
           is_behind_bound(bytes_of(&self->store[first + count]), request->words[3], false))
        count++;
    resp_array(reply, count);
    for (size_t i = 0; i < count; i++) resp_bulk(reply, bytes_of(&self->store[first + i]));
}

static void answer_scores(const game* self, const world_request* request, resp_text* reply)
{
    bool is_there;
    resp_array(reply, request->count - 2);
    for (size_t i = 2; i < request->count; i++)
    {
        place_of(self, request->words[i], &is_there);
        resp_print(reply, is_there ? "$1\r\n0\r\n" : "$-1\r\n");
    }
}

static bool answer(world* of, const world_request* request, resp_text* reply)
{
    game* self = of->context;
    if (request->script == &gh_guild_join_lua) answer_change(self, request, true, reply);
    else if (request->script == &gh_guild_leave_lua) answer_change(self, request, false, reply);
    else if (resp_is(request->words[0], "ZRANGE")) answer_range(self, request, reply);
    else if (resp_is(request->words[0], "ZMSCORE")) answer_scores(self, request, reply);
    else if (resp_is(request->words[0], "ZCARD")) resp_integer(reply, (int64_t)self->store_count);
    else return false;
    return true;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static size_t model_place(const game* self, const player* one)
{
    size_t at = 0;
    while (at < self->player_count && !(gh_str_equal(gh_name_str(&self->players[at].name), gh_name_str(&one->name)) &&
                                        gh_str_equal(gh_name_str(&self->players[at].id), gh_name_str(&one->id))))
        at++;
    return at;
}

static gh_status model_join(game* self, const player* one)
{
    if (model_place(self, one) < self->player_count) return GH_EXISTS;
    if (self->player_count == MEMBERS_MAX) return GH_FULL;
    self->players[self->player_count++] = *one;
    return GH_OK;
}

static gh_status model_leave(game* self, const player* one)
{
    const size_t at = model_place(self, one);
    if (at == self->player_count) return GH_NOT_MEMBER;
    self->players[at] = self->players[--self->player_count];
    return GH_OK;
}

static gh_str fold(const game* self, gh_str text, char out[GH_FOLDED_SIZE_MAX])
{
    return gh_str_make(out, gh_fold_apply(self->fold, NULL, text, out));
}

static bool is_sought(const game* self, const player* one, gh_str prefix)
{
    char whole[GH_FOLDED_SIZE_MAX], first[GH_FOLDED_SIZE_MAX];
    const gh_str name = fold(self, gh_name_str(&one->name), whole), wanted = fold(self, prefix, first);
    return wanted.size <= name.size && (wanted.size == 0 || memcmp(name.bytes, wanted.bytes, wanted.size) == 0);
}

/* ---- the caller -------------------------------------------------------------------------------------------------- */

static void finish(game* self, const gh_op* op)
{
    for (int i = 0; i < 50 && gh_op_is_busy(op); i++) world_tick(self->world, 1000);
    FUZZ_MUST(!gh_op_is_busy(op));
}

static void draw_name(fuzz_input* input, gh_name* name, bool may_be_empty)
{
    static const char* const heads[] = {"jeff", "Jeff", "je", "\xff", "\xff\xff", "\xc3\x84", ""};
    const char* head = heads[fuzz_below(input, FUZZ_COUNT(heads))];
    const gh_str tail = fuzz_text(input, fuzz_byte(input) < 240 ? 4 : GH_NAME_SIZE_MAX - strlen(head));
    name->size = (uint8_t)(strlen(head) + tail.size);
    memcpy(name->bytes, head, strlen(head));
    if (tail.size > 0) memcpy(name->bytes + strlen(head), tail.bytes, tail.size);
    if (name->size == 0 && !may_be_empty) name->bytes[name->size++] = 'x';
}

static void change(game* self, bool joins)
{
    player players[4];
    gh_guild_member members[4];
    gh_guild_change op = GH_ZERO;
    const size_t count = 1 + fuzz_below(&self->input, 4);
    memset(members, 0, sizeof(members));
    for (size_t i = 0; i < count; i++)
    {
        draw_name(&self->input, &players[i].name, false);
        players[i].id.size = 0;
        if (fuzz_byte(&self->input) > 128) draw_name(&self->input, &players[i].id, true);
        members[i].name = gh_name_str(&players[i].name);
        members[i].id = gh_name_str(&players[i].id);
    }
    FUZZ_MUST((joins ? gh_guild_join_begin(&op, &self->guild, members, count)
                     : gh_guild_leave_begin(&op, &self->guild, members, count)) == GH_OK);
    finish(self, &op.op);
    FUZZ_MUST(gh_op_poll(&op.op) == GH_OK || gh_op_poll(&op.op) == GH_FULL);
    for (size_t i = 0; i < count; i++)
        FUZZ_MUST(members[i].status == (joins ? model_join(self, &players[i]) : model_leave(self, &players[i])));
    FUZZ_MUST(op.size == self->player_count);
}

static void ask(game* self)
{
    player one = {.name = {.size = 0}, .id = {.size = 0}};
    gh_guild_member member = GH_ZERO;
    gh_guild_has op = GH_ZERO;
    draw_name(&self->input, &one.name, false);
    member.name = gh_name_str(&one.name);
    FUZZ_MUST(gh_guild_has_begin(&op, &self->guild, &member, 1) == GH_OK);
    finish(self, &op.op);
    FUZZ_MUST(gh_op_poll(&op.op) == GH_OK);
    FUZZ_MUST((member.status == GH_OK) == (model_place(self, &one) < self->player_count));
}

typedef struct paging
{
    bool seen[MEMBERS_MAX];
    size_t count;
    char last[GH_FOLDED_SIZE_MAX]; /* folded name of the hit before */
    size_t last_size;
} paging;

/* Each is sought, has not come before, and folds to no less than the one before it. */
static void take_hit(const game* self, paging* so_far, const gh_guild_hit* hit, gh_str prefix)
{
    char out[GH_FOLDED_SIZE_MAX];
    player one = {.name = {.size = (uint8_t)hit->name.size}, .id = {.size = (uint8_t)hit->id.size}};
    memcpy(one.name.bytes, hit->name.bytes, hit->name.size);
    if (hit->id.size > 0) memcpy(one.id.bytes, hit->id.bytes, hit->id.size);
    const size_t at = model_place(self, &one);
    FUZZ_MUST(at < self->player_count && !so_far->seen[at] && is_sought(self, &one, prefix));
    so_far->seen[at] = true;
    so_far->count++;
    const gh_str folded = fold(self, hit->name, out);
    FUZZ_MUST(compare(gh_str_make(so_far->last, so_far->last_size), folded) <= 0);
    memcpy(so_far->last, folded.bytes, folded.size);
    so_far->last_size = folded.size;
}

static void complete(game* self)
{
    paging so_far;
    gh_name prefix;
    gh_guild_search op = GH_ZERO, other = GH_ZERO;
    gh_guild_search* search = &op;
    gh_guild_search_config config = gh_guild_search_config_default();
    static _Alignas(8) char buffers[2][GH_GUILD_BUFFER_SIZE(LIMIT_MAX)];
    size_t expected = 0;
    memset(&so_far, 0, sizeof(so_far));
    config.limit = 1 + fuzz_below(&self->input, LIMIT_MAX);
    config.buffer = buffers[0];
    config.buffer_size = GH_GUILD_BUFFER_SIZE(config.limit);
    draw_name(&self->input, &prefix, true);
    const bool by_cursor = fuzz_bit(&self->input);
    FUZZ_MUST(gh_guild_complete_begin(search, &self->guild, gh_name_str(&prefix), &config) == GH_OK);
    for (size_t page = 0;; page++)
    {
        finish(self, &search->op);
        FUZZ_MUST(page <= MEMBERS_MAX && search->count <= config.limit);
        FUZZ_MUST(gh_op_poll(&search->op) == (search->count > 0 ? GH_OK : GH_EMPTY));
        for (uint32_t i = 0; i < search->count; i++) take_hit(self, &so_far, &search->hits[i], gh_name_str(&prefix));
        if (!search->more) break;
        if (!by_cursor)
        {
            FUZZ_MUST(gh_guild_next_begin(search, &self->guild) == GH_OK);
            continue;
        }
        config.after = search->cursor; /* as another server would go on */
        config.buffer = buffers[(page + 1) % 2];
        search = search == &op ? &other : &op;
        FUZZ_MUST(gh_guild_complete_begin(search, &self->guild, gh_name_str(&prefix), &config) == GH_OK);
    }
    for (size_t i = 0; i < self->player_count; i++)
        expected += is_sought(self, &self->players[i], gh_name_str(&prefix));
    if (so_far.count != expected) FUZZ_FAIL("%zu are found, not %zu", so_far.count, expected);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static world the_world;
    static game self;
    gh_guild_config config = gh_guild_config_default();
    if (the_world.client == NULL) /* one client for all inputs, each with a store of its own */
    {
        const gh_client_config usual = world_config();
        FUZZ_MUST(world_start(&the_world, &usual, gh_str_make(NULL, 0)));
        the_world.answer = answer;
        the_world.context = &self;
        FUZZ_MUST(world_tick_until_ready(&the_world));
    }
    self.world = &the_world;
    self.input = fuzz_input_of(data, size);
    self.store_count = self.player_count = 0;
    const uint8_t how = fuzz_byte(&self.input);
    self.fold = (how & 1) != 0 ? gh_fold_utf8 : (how & 2) != 0 ? NULL : gh_fold_ascii;
    config.fold = self.fold;
    FUZZ_MUST(gh_guild_init(&self.guild, the_world.client, gh_str_literal("knights"), &config) == GH_OK);
    for (int i = 0; i < 60 && fuzz_left(&self.input) > 0; i++)
    {
        const uint8_t which = fuzz_byte(&self.input);
        if (which < 96) change(&self, true);
        else if (which < 128) change(&self, false);
        else if (which < 160) ask(&self);
        else complete(&self);
    }
    complete(&self);
    return 0;
}
