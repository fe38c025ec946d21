/* hostile.c -- numbers at their edges, texts that begin like what is stored, and errors. */

#include "hostile.h"

#include "base/hash.h"

#include <stdio.h>

#define TEXT_MAX HOSTILE_TEXT_MAX

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void hostile_error(fuzz_input* input, resp_text* reply)
{
    static const char* const errors[] = {
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots",
        "READONLY You can't write against a read only replica.",
        "NOSCRIPT No matching script. Please use EVAL.",
        "NOPERM this user has no permissions",
        "NOAUTH Authentication required.",
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "CORRUPT the list is not of this form",
        "FENCED the lock is not held with this fence",
        "STALE the data is of generation 1700000000000001",
        "STALE",
        "LATE the request comes too late, it is 1780000000000001",
        "LATE",
        "LAYOUT the keys with this prefix have the layout 2",
        "MOVED 3999 10.0.0.2:6379",
        "ASK 3999 10.0.0.3:6379",
        "MOVED 99999 :0",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "CLUSTERDOWN The cluster is down",
        "MASTERDOWN Link with MASTER is down",
        "ERR unknown command",
        "ERR Script attempted to access a non local key in a cluster node script: 0",
        "ERR user_script:1: The user has no permissions to run the 'zadd' command script: 0",
        "UNKILLABLE",
        "",
    };
    const uint8_t which = fuzz_byte(input);
    if (which % 32 < FUZZ_COUNT(errors))
    {
        resp_print(reply, "-%s\r\n", errors[which % 32]);
        return;
    }
    resp_print(reply, "-");
    const gh_str text = fuzz_text(input, 60);
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] != '\r' && text.bytes[i] != '\n') resp_put(reply, text.bytes + i, 1);
    resp_print(reply, "\r\n");
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static int64_t draw_number(const world* of, fuzz_input* input)
{
    const uint8_t how = fuzz_byte(input);
    if (how < 160) return how % 9;
    if (how < 190) return (int64_t)(world_store_us(of) + (uint64_t)(how - 175) * 10000);
    if (how < 200) return (int64_t)(how - 190) * 1000000;
    return (int64_t)(fuzz_edge(input) & INT64_MAX);
}

typedef struct text
{
    char bytes[TEXT_MAX];
    size_t size;
} text;

static void add(text* to, gh_str more)
{
    if (more.size > TEXT_MAX - to->size) more.size = TEXT_MAX - to->size;
    if (more.size > 0) memcpy(to->bytes + to->size, more.bytes, more.size);
    to->size += more.size;
}

static void add_number(text* to, int64_t number)
{
    char digits[24];
    add(to, gh_str_make(digits, (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)number)));
}

static gh_str draw_word(fuzz_input* input)
{
    static const gh_str words[] = {
        GH_STR_INIT("a"),    GH_STR_INIT("b"),   GH_STR_INIT("mia"),
        GH_STR_INIT("Jeff"), GH_STR_INIT("-"),   GH_STR_INIT(""),
        GH_STR_INIT("0"),    GH_STR_INIT("%7b"), GH_STR_INIT("0123456789abcdef:0123456789abcdef")};
    const uint8_t which = fuzz_byte(input);
    return which < 192 ? words[which % FUZZ_COUNT(words)] : fuzz_text(input, 80);
}

/* As messages are stored: "<id> <ms> <size of the sender> <sender><body>", or "-<size> " in front and no body. */
static void add_entry(const world* of, fuzz_input* input, text* to)
{
    const gh_str sender = draw_word(input);
    const uint8_t how = fuzz_byte(input);
    if (how > 240) add(to, gh_str_literal("-"));
    if (how > 240) add_number(to, draw_number(of, input)), add(to, gh_str_literal(" "));
    add_number(to, draw_number(of, input));
    add(to, gh_str_literal(" "));
    add_number(to, (int64_t)(world_store_us(of) / 1000));
    add(to, gh_str_literal(" "));
    add_number(to, how == 0 ? draw_number(of, input) : (int64_t)sender.size);
    add(to, gh_str_literal(" "));
    add(to, sender);
    add(to, fuzz_text(input, 200));
}

/* A digest, and the bytes that it is of. */
static void add_chunk(fuzz_input* input, text* to)
{
    const gh_str bytes = fuzz_text(input, 200);
    const gh_digest digest = gh_hash_digest(bytes.bytes, bytes.size);
    add(to, gh_str_make((const char*)digest.bytes, sizeof(digest.bytes)));
    add(to, bytes);
}

/* Numbers and words with blanks, colons or the like between them. */
static void add_list(const world* of, fuzz_input* input, text* to)
{
    static const char* const marks[] = {" ", ":", " ", ".", "\t", "\n"};
    for (uint8_t left = fuzz_byte(input) & 7;; left--)
    {
        if (fuzz_byte(input) < 160) add_number(to, draw_number(of, input));
        else add(to, draw_word(input));
        if (left == 0) break;
        add(to, gh_str_of(marks[fuzz_below(input, FUZZ_COUNT(marks))]));
    }
}

static void draw_text(const world* of, fuzz_input* input, text* to)
{
    to->size = 0;
    switch (fuzz_below(input, 8))
    {
    case 0: add(to, draw_word(input)); break;
    case 1: add_entry(of, input, to); break;
    case 2: add_list(of, input, to); break;
    case 3: add_chunk(input, to); break;
    case 4: /* a letter for each */
        for (uint8_t left = fuzz_byte(input) & 7; left > 0; left--)
            add(to, gh_str_make(&"0123456789tbkscfxjmln-"[fuzz_below(input, 22)], 1));
        break;
    case 5: add(to, gh_str_literal("0123456789abcdef0123456789abcdef")); break;
    default: add(to, fuzz_text(input, 300)); break;
    }
}

gh_str hostile_text(const world* of, fuzz_input* input, char bytes[HOSTILE_TEXT_MAX])
{
    text made;
    draw_text(of, input, &made);
    memcpy(bytes, made.bytes, made.size);
    return gh_str_make(bytes, made.size);
}

static void put_text(const world* of, fuzz_input* input, resp_text* reply)
{
    text made;
    draw_text(of, input, &made);
    resp_bulk(reply, gh_str_make(made.bytes, made.size));
}

/* Any value at all. */
static void put_any(const world* of, fuzz_input* input, resp_text* reply, int depth)
{
    const uint8_t how = fuzz_byte(input) & 15;
    if (how < 8) put_text(of, input, reply);
    else if (how < 12) resp_integer(reply, draw_number(of, input));
    else if (how == 12) resp_print(reply, "$-1\r\n");
    else if (how == 13) resp_print(reply, "+OK\r\n");
    else if (how == 14 && depth > 0) hostile_error(input, reply);
    else if (depth > 6) resp_print(reply, "*0\r\n");
    else
    {
        const uint8_t count = fuzz_byte(input) % 5;
        resp_array(reply, count);
        for (uint8_t i = 0; i < count; i++) put_any(of, input, reply, depth + 1);
    }
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static int64_t number_for(char letter, const world* of, const world_request* request, fuzz_input* input)
{
    const uint8_t how = letter == 'i' ? 255 : fuzz_byte(input);
    if (letter == 'q' && how < 252) return (int64_t)request->sequence;
    if (letter == 'n' && how < 240) return (int64_t)world_store_us(of);
    return draw_number(of, input);
}

/* All elements in one text. */
static void put_columns(const char* shape, const world* of, const world_request* request, fuzz_input* input,
                        resp_text* reply)
{
    text made, part;
    made.size = 0;
    for (const char* letter = shape; *letter != 0; letter++)
    {
        if (letter > shape) add(&made, gh_str_literal(" "));
        if (*letter != 's') add_number(&made, number_for(*letter, of, request, input));
        else
        {
            draw_text(of, input, &part);
            add(&made, gh_str_make(part.bytes, part.size));
        }
    }
    resp_bulk(reply, gh_str_make(made.bytes, made.size));
}

static void put_elements(const char* shape, const world* of, const world_request* request, fuzz_input* input,
                         resp_text* reply)
{
    const char* rest = strchr(shape, '*');
    const size_t more = rest != NULL ? fuzz_byte(input) % 9 : 0;
    const size_t fixed = rest != NULL ? (size_t)(rest - shape) : strlen(shape);
    resp_array(reply, fixed + more);
    for (size_t i = 0; i < fixed; i++)
    {
        if (shape[i] == 's') put_text(of, input, reply);
        else resp_integer(reply, number_for(shape[i], of, request, input));
    }
    for (size_t i = 0; i < more; i++) put_any(of, input, reply, 1);
}

static void put_shape(const char* shape, const world* of, const world_request* request, fuzz_input* input,
                      resp_text* reply)
{
    if (shape == NULL) put_any(of, input, reply, 0);
    else if (shape[0] == 't') put_columns(shape + 1, of, request, input, reply);
    else put_elements(shape, of, request, input, reply);
}

/* What a command without a script is answered, if a good server would say more than OK. */
static bool put_for_command(const world* of, const world_request* request, fuzz_input* input, resp_text* reply)
{
    const gh_str name = request->words[0];
    if (resp_is(name, "HGET"))
    {
        text made = {.size = 0};
        if (fuzz_byte(input) < 128) add_chunk(input, &made);
        else draw_text(of, input, &made);
        resp_bulk(reply, gh_str_make(made.bytes, made.size));
        return true;
    }
    if (resp_is(name, "ZCARD"))
    {
        resp_integer(reply, draw_number(of, input));
        return true;
    }
    if (resp_is(name, "ZRANGE") || resp_is(name, "ZMSCORE"))
    {
        const uint8_t count = fuzz_byte(input) % 9;
        resp_array(reply, count);
        for (uint8_t i = 0; i < count; i++) put_any(of, input, reply, 1);
        return true;
    }
    return false;
}

static bool is_of_the_handshake(const world_request* request)
{
    static const char* const names[] = {"AUTH",    "SELECT",    "CLIENT", "INFO",        "SCRIPT",
                                        "PUBLISH", "SUBSCRIBE", "PING",   "UNSUBSCRIBE", "ASKING"};
    if (request->script == &gh_epoch_lua || request->script == &gh_rights_lua) return true;
    for (size_t i = 0; i < FUZZ_COUNT(names); i++)
        if (resp_is(request->words[0], names[i])) return true;
    return false;
}

bool hostile_answer_shaped(const world* of, const world_request* request, fuzz_input* input, resp_text* reply)
{
    if (is_of_the_handshake(request)) return false;
    if (request->once) put_shape(gh_command_once_lua.shape, of, request, input, reply);
    else if (request->script != NULL) put_shape(request->script->shape, of, request, input, reply);
    else if (!put_for_command(of, request, input, reply)) put_any(of, input, reply, 0);
    return true;
}

bool hostile_answer(world* of, const world_request* request, fuzz_input* input, resp_text* reply)
{
    const uint8_t how = fuzz_byte(input);
    const bool greets = is_of_the_handshake(request);
    if (how < (greets ? 248 : 200)) return hostile_answer_shaped(of, request, input, reply);
    of->confuses = of->confuses || greets || how > 251;
    if (how < 240) hostile_error(input, reply);
    else if (how < 251) put_any(of, input, reply, 0);
    else if (how == 251) request->stream->ended = true;
    else if (how == 252) resp_print(reply, "*2\r\n*-1\r\n*0\r\n");
    return true; /* else it gets no answer, and the next one is taken for it */
}
