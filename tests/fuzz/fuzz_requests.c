/* fuzz_requests.c -- requests of all ops, begun with any names and arguments, taken apart by a reader of RESP that
   knows nothing of how they are written.

   Whatever the bytes in a name, the request has the words that it announces, a script as many keys and arguments as its
   head says, and a key the very name that was drawn, escaped so that nothing in it can move the key elsewhere. */

#include "hostile.h"
#include "ops.h"
#include "request_check.h"

#define OPS_MAX 4u

typedef struct game
{
    fuzz_input answers;
    ops_place places[OPS_MAX];
    bool names_are_told; /* by answers, which nobody drew */
} game;

/* ---- names in keys ----------------------------------------------------------------------------------------------- */

static int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "%7b" is a byte; what need not be escaped must not be. False: it is not written in its one way. */
static bool unescape(gh_str text, char out[GH_NAME_SIZE_MAX], size_t* size)
{
    *size = 0;
    for (size_t i = 0; i < text.size; i++)
    {
        char c = text.bytes[i];
        const bool is_escaped = c == '%';
        if (is_escaped && i + 2 >= text.size) return false;
        if (is_escaped)
        {
            if (hex_of(text.bytes[i + 1]) < 0 || hex_of(text.bytes[i + 2]) < 0) return false;
            c = (char)(hex_of(text.bytes[i + 1]) << 4 | hex_of(text.bytes[i + 2]));
            i += 2;
        }
        const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                              c == '.' || c == '-';
        if (is_plain == is_escaped || *size == GH_NAME_SIZE_MAX) return false;
        out[(*size)++] = c;
    }
    return true;
}

/* Of those that are named by a player or a thing, and not by a shard. */
static bool has_name(gh_str kind)
{
    static const char* const kinds[] = {"lock",  "semaphore", "tasks", "mailbox", "chat",
                                        "chats", "contacts",  "guild", "file",    "files"};
    for (size_t i = 0; i < FUZZ_COUNT(kinds); i++)
        if (resp_is(kind, kinds[i])) return true;
    return false;
}

/* "gh:{kind:name}:part" */
static void look_at_key(gh_str key, const char* kind_of_op)
{
    char name[GH_NAME_SIZE_MAX];
    size_t size;
    const char* open = memchr(key.bytes, '{', key.size);
    const char* stop = key.bytes + key.size;
    if (open == NULL) return;
    const char* colon = memchr(open, ':', (size_t)(stop - open));
    const char* close = memchr(open, '}', (size_t)(stop - open));
    if (open != key.bytes + 3 || colon == NULL || close == NULL || colon > close)
        FUZZ_FAIL("a key of no object: %.*s", GH_STR_ARG(key));
    FUZZ_MUST(close + 1 < stop && close[1] == ':' && memchr(close + 1, '}', (size_t)(stop - close - 1)) == NULL);
    if (!has_name(gh_str_make(open + 1, (size_t)(colon - open) - 1))) return;
    if (!unescape(gh_str_make(colon + 1, (size_t)(close - colon) - 1), name, &size))
        FUZZ_FAIL("a name is escaped as none is: %.*s", GH_STR_ARG(key));
    if (!ops_has_drawn(gh_str_make(name, size)))
        FUZZ_FAIL("%s asks for a name that nobody drew: %.*s", kind_of_op, GH_STR_ARG(key));
}

/* A chat list leads to chats whose names the answers said; also when it is over, and what it asked is still on its
   way. */
static bool leads_to_names(const ops_kind* kind)
{
    return strcmp(kind->name, "chat list") == 0 || strcmp(kind->name, "chat feed") == 0;
}

static bool answer(world* of, const world_request* request, resp_text* reply)
{
    game* self = of->context;
    fuzz_input slice = fuzz_slice(&self->answers);
    if (request->script != NULL && request->script != &gh_epoch_lua && request->script != &gh_rights_lua &&
        !request->once && request->script != &gh_command_lua && request->script != &gh_fenced_lua &&
        !self->names_are_told)
        for (size_t i = 0; i < request->keys; i++) look_at_key(request->words[3 + i], "an op");
    return hostile_answer_shaped(of, request, &slice, reply);
}

/* ---- one input --------------------------------------------------------------------------------------------------- */

static void begin_one(world* of, fuzz_input* input)
{
    game* self = of->context;
    ops_place* place = &self->places[fuzz_byte(input) % OPS_MAX];
    const ops_kind* kind = ops_kind_at(fuzz_below(input, ops_kind_count()));
    fuzz_input slice = fuzz_slice(input);
    if (!ops_empty(place)) return;
    self->names_are_told = self->names_are_told || leads_to_names(kind);
    ops_begin(place, kind, of->client, &slice);
    world_tick(of, 16000);
    world_tick(of, 16000);
    if (place->kind->use != NULL) place->kind->use(place, of->client, &slice);
    world_tick(of, 16000);
    world_tick(of, 16000);
    ops_check(place);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static world the_world;
    static game self;
    gh_client_config config = world_config();
    memset(&self, 0, sizeof(self));
    self.answers = fuzz_input_of(data, size);
    if (fuzz_byte(&self.answers) % 4 == 3) config.topology = gh_topology_cluster();
    config.nodes_capacity = 2;
    FUZZ_MUST(world_start(&the_world, &config, gh_str_make(NULL, 0)));
    FUZZ_MUST(world_tick_until_ready(&the_world));
    the_world.context = &self;
    the_world.answer = answer;
    the_world.checks_words = true;
    fuzz_input steps = fuzz_slice(&self.answers);
    for (int i = 0; i < 12 && fuzz_left(&steps) > 0; i++) begin_one(&the_world, &steps);
    world_end(&the_world);
    for (size_t i = 0; i < OPS_MAX; i++) FUZZ_MUST(ops_empty(&self.places[i]));
    world_forget(&the_world);
    request_forget_all();
    ops_forget();
    return 0;
}
