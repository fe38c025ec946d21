/* scripts.c -- see scripts.h. */

#include "differential/scripts.h"

#include "client/script_text.h"
#include "differential/mirror.h"
#include "support/sha1.h"
#include "support/source_tree.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
    ITEMS_MAX = 48,
    ITEM_SIZE = 96,
    LEARNED_MAX = 256,
    LEARNED_SIZE = 48
};

typedef struct head
{
    const gh_script_text* text;
    char* body;
    size_t size;
    char digest[41];
    char keys[ITEMS_MAX][ITEM_SIZE];      /* "gh:{lock:<name>}:s", or empty where the head says it in words */
    char arguments[ITEMS_MAX][ITEM_SIZE]; /* what the head says of it */
} head;

#define SCRIPT_NAME(name) #name,
static const char* const script_names[] = {GH_SCRIPT_LIST(SCRIPT_NAME)};
#undef SCRIPT_NAME
#define SCRIPT_TEXT(name) &gh_##name##_lua,
static const gh_script_text* const script_texts[] = {GH_SCRIPT_LIST(SCRIPT_TEXT)};
#undef SCRIPT_TEXT

static head heads[GH_SCRIPT_COUNT];
static uint64_t called[GH_SCRIPT_COUNT];
static uint64_t refused[GH_SCRIPT_COUNT];
static char refusals[GH_SCRIPT_COUNT][80]; /* the last of each */
static char learned[LEARNED_MAX][LEARNED_SIZE];
static size_t learned_sizes[LEARNED_MAX];
static uint32_t learned_count;

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* "7", "[7]", "4..7": its numbers, and how many bytes of the line that is; 0: no number stands there. */
static size_t read_numbers(const char* at, unsigned* first, unsigned* last)
{
    const char* from = at;
    char* end;
    if (*at == '[') at++;
    if (*at < '1' || *at > '9') return 0;
    *first = *last = (unsigned)strtoul(at, &end, 10);
    if (end[0] == '.' && end[1] == '.' && end[2] >= '0' && end[2] <= '9') *last = (unsigned)strtoul(end + 2, &end, 10);
    if (*end == ']') end++;
    return *end == ' ' ? (size_t)(end - from) + 1 : 0;
}

static void note_item(char items[ITEMS_MAX][ITEM_SIZE], unsigned first, unsigned last, const char* text, size_t size)
{
    for (unsigned i = first; i <= last && i <= ITEMS_MAX; i++)
        (void)snprintf(items[i - 1], ITEM_SIZE, "%.*s", (int)size, text);
}

/* ", 2 b" or "   2 :b": how many bytes stand before the number; 0: no item begins there. */
static size_t next_item(const char* at)
{
    unsigned unused;
    if (at[0] == ',' && at[1] == ' ') return read_numbers(at + 2, &unused, &unused) > 0 ? 2 : 0;
    if (at[0] != ' ' || at[1] != ' ') return 0;
    return read_numbers(at + 2, &unused, &unused) > 0 ? 2 : 0;
}

/* A line of a section: "1 a, 2 b   what they are". The text of an item ends before the next one's number. */
static void read_line(char items[ITEMS_MAX][ITEM_SIZE], const char* line)
{
    while (*line == ' ') line++;
    for (;;)
    {
        unsigned first;
        unsigned last;
        size_t size = read_numbers(line, &first, &last);
        const char* next;
        if (size == 0) return;
        line += size;
        for (next = line; *next != '\0' && next_item(next) == 0;) next++;
        note_item(items, first, last, line, (size_t)(next - line));
        if (*next == '\0') return;
        line = next + next_item(next);
    }
}

static FILE* open_source(const char* name)
{
    static const char* const systems[] = {"aggregate", "chat", "client",  "command", "contacts",  "counters", "files",
                                          "guild",     "lock", "mailbox", "rows",    "semaphore", "talk",     "tasks"};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
    {
        char relative[128];
        char path[SOURCE_TREE_PATH_SIZE];
        (void)snprintf(relative, sizeof relative, "sdk/src/%s/%s.lua", systems[i], name);
        if (source_tree_path(path, relative)) return fopen(path, "r");
    }
    return NULL;
}

static void read_head(head* one, const char* name)
{
    FILE* source = open_source(name);
    char line[512];
    char(*items)[ITEM_SIZE] = NULL;
    if (source == NULL)
    {
        fprintf(stderr, "differential: there is no source of the script %s\n", name);
        exit(2);
    }
    while (fgets(line, sizeof line, source) != NULL && strncmp(line, "--", 2) == 0)
    {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "-- KEYS ", 8) == 0) items = one->keys;
        else if (strncmp(line, "-- ARGV ", 8) == 0) items = one->arguments;
        else if (strncmp(line, "--       ", 9) != 0) items = NULL;
        if (items != NULL) read_line(items, line + 8);
    }
    fclose(source);
}

/* What a server draws of the fields of a hash cannot be foretold, but for those that may come twice: a count below
   zero asks for these. */
static void draw_with_repeats(head* one)
{
    static const char command[] = "'HRANDFIELD',";
    char* made = malloc(one->size + 64);
    char* to = made;
    const char* at = one->body;
    const char* found;
    if (made == NULL) abort();
    one->body[one->size] = '\0';
    while ((found = strstr(at, command)) != NULL)
    {
        const char* count = strchr(found + sizeof command - 1, ',') + 1;
        const char* end = strchr(count, ',');
        memcpy(to, at, (size_t)(count - at));
        to += count - at;
        to += sprintf(to, *count == '-' ? "%.*s" : "-(%.*s)", (int)(end - count), count);
        at = end;
    }
    memcpy(to, at, (size_t)(one->body + one->size - at));
    to += one->body + one->size - at;
    free(one->body);
    one->body = made;
    one->size = (size_t)(to - made);
}

static void unpack(head* one)
{
    one->body = malloc((size_t)one->text->size + 1);
    if (one->body == NULL) abort();
    one->size = (size_t)(gh_script_unpack(one->text, one->body) - one->body);
    draw_with_repeats(one);
    sha1_hex(one->body, one->size, one->digest);
}

void scripts_open(void)
{
    for (uint32_t i = 0; i < GH_SCRIPT_COUNT; i++)
    {
        heads[i].text = script_texts[i];
        unpack(&heads[i]);
        read_head(&heads[i], script_names[i]);
    }
}

void scripts_close(void)
{
    for (uint32_t i = 0; i < GH_SCRIPT_COUNT; i++) free(heads[i].body);
}

uint32_t scripts_count(void)
{
    return GH_SCRIPT_COUNT;
}

void scripts_load(void)
{
    for (uint32_t i = 0; i < GH_SCRIPT_COUNT; i++)
    {
        const gh_str words[3] = {gh_str_literal("SCRIPT"), gh_str_literal("LOAD"),
                                 gh_str_make(heads[i].body, heads[i].size)};
        mirror_add(words, 3);
        mirror_send();
    }
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The pattern's first word, with a name in place of each "<...>"; ":q" alone goes behind the tag of the one before. */
static size_t make_key(char key[ITEM_SIZE], const char* pattern, const char* before, const char* name)
{
    const char* brace = strrchr(before, '}');
    size_t used = 0;
    if (*pattern == ':' && brace != NULL)
    {
        used = (size_t)(brace + 1 - before);
        memcpy(key, before, used);
    }
    while (*pattern != '\0' && *pattern != ' ' && *pattern != ',' && used + 8 < ITEM_SIZE)
    {
        if (*pattern != '<') key[used++] = *pattern++;
        else
        {
            const char* end = strchr(pattern, '>');
            memcpy(key + used, name, 1);
            used++;
            pattern = end == NULL ? pattern + strlen(pattern) : end + 1;
        }
    }
    key[used] = '\0';
    return used;
}

/* Those that come any number of times, as the heads say it in words. */
static const char* const repeated[] = {":r0", ":r1", ":d0", ":d1",  ":q",      ":g",    ":c",
                                       ":w",  ":x",  ":h",  ":o:n", ":c:60:n", ":c:1:n"};

static const char* pattern_of(random_stream* random, const head* one, uint32_t number)
{
    const char* pattern = number < ITEMS_MAX ? one->keys[number] : "";
    if (number > 0 && (*pattern == '\0' || strncmp(pattern, "...", 3) == 0))
        return repeated[random_below(random, sizeof repeated / sizeof *repeated)];
    return pattern;
}

/* One in twenty is of another name, or one of those that plain commands fill with anything. */
static void add_keys(random_stream* random, const head* one, uint32_t count, form_words* words)
{
    static const char* const names[] = {"a", "b", "c"};
    const char* name = names[random_below(random, 3)];
    char before[ITEM_SIZE] = "";
    for (uint32_t i = 0; i < count; i++)
    {
        char key[ITEM_SIZE];
        const char* pattern = pattern_of(random, one, i);
        const char* used_name = random_one_in(random, 40) ? names[random_below(random, 3)] : name;
        size_t size = make_key(key, pattern, before, used_name);
        if (size == 0 || random_one_in(random, 40))
            size = (size_t)snprintf(key, sizeof key, "key%llu", (unsigned long long)random_below(random, 12));
        else memcpy(before, key, size + 1);
        form_add(words, gh_str_make(key, size));
    }
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

typedef enum kind
{
    KIND_ANY = 0,
    KIND_SEQUENCE,
    KIND_TOKEN,
    KIND_MOMENT_US,
    KIND_MOMENT_MS,
    KIND_MOMENT_S,
    KIND_SPAN_US,
    KIND_SPAN_MS,
    KIND_SPAN_S,
    KIND_COUNT,
    KIND_NAME,
    KIND_FLAG
} kind;

typedef struct hint
{
    const char* word;
    kind is;
} hint;

/* The first that stands in the item's own name, which ends at two blanks; else in all that is said of it. */
static const hint hints[] = {{"sequence", KIND_SEQUENCE},   {"token", KIND_TOKEN},
                             {"not after", KIND_MOMENT_US}, {"not before", KIND_MOMENT_US},
                             {"birth", KIND_MOMENT_US},     {"fence", KIND_MOMENT_US},
                             {"until", KIND_MOMENT_US},     {"due us", KIND_MOMENT_US},
                             {"epoch", KIND_MOMENT_US},     {"day", KIND_MOMENT_S},
                             {"generation", KIND_FLAG},     {" us", KIND_SPAN_US},
                             {" ms", KIND_SPAN_MS},         {" s", KIND_SPAN_S},
                             {"lease", KIND_SPAN_US},       {"patience", KIND_SPAN_US},
                             {"window", KIND_SPAN_US},      {"limit", KIND_COUNT},
                             {"count", KIND_COUNT},         {"place", KIND_COUNT},
                             {"after", KIND_COUNT},         {"bytes", KIND_COUNT},
                             {"room", KIND_COUNT},          {"capacity", KIND_COUNT},
                             {"classes", KIND_FLAG},        {"permits", KIND_COUNT},
                             {"newest", KIND_FLAG},         {"precisions", KIND_FLAG},
                             {"counters", KIND_FLAG},       {"layout", KIND_COUNT},
                             {"most", KIND_COUNT},          {"how many", KIND_COUNT},
                             {"number", KIND_COUNT},        {"size", KIND_COUNT},
                             {"cursor", KIND_FLAG},         {"1:", KIND_FLAG},
                             {"name", KIND_NAME},           {"member", KIND_NAME},
                             {"player", KIND_NAME},         {"id", KIND_SEQUENCE},
                             {"client", KIND_TOKEN},        {"field", KIND_TOKEN}};

static kind kind_in(const char* words, size_t size)
{
    char text[ITEM_SIZE];
    (void)snprintf(text, sizeof text, "%.*s", (int)size, words);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(text, hints[i].word) != NULL) return hints[i].is;
    return KIND_ANY;
}

static kind kind_of(const char* words)
{
    const char* gap = strstr(words, "  ");
    const kind is = kind_in(words, gap == NULL ? strlen(words) : (size_t)(gap - words));
    return is == KIND_ANY ? kind_in(words, strlen(words)) : is;
}

static const char* const tokens[] = {"0123456789abcdef:0000000000000001", "00000000000000aa:0000000000000002",
                                     "0123456789abcdef:0000000000000003", "00000000000000aa", "0123456789abcdef"};
static const char* const others[] = {"0",  "1",   "2", "3",  "17",  "100", "m1", "m2",    "a",   "b",  "",    "-",
                                     "-1", "1.5", "x", "{}", "1 2", "k",   "h",  "5 6 7", "a b", "00", "1e3", "GET"};
static const uint64_t spans[] = {0, 1, 2, 5, 60, 1000, 5000, 60000};

static void add_kind(random_stream* random, kind is, uint64_t now_us, form_words* words)
{
    const uint64_t span = spans[random_below(random, sizeof spans / sizeof *spans)];
    const uint64_t moment_us = now_us - 2000000 + random_below(random, 62000000);
    switch (is)
    {
    case KIND_SEQUENCE: form_add_number(words, 1 + random_below(random, 12)); break;
    case KIND_TOKEN: form_add(words, gh_str_of(tokens[random_below(random, 5)])); break;
    case KIND_MOMENT_US: form_add_number(words, moment_us); break;
    case KIND_MOMENT_MS: form_add_number(words, moment_us / 1000); break;
    case KIND_MOMENT_S: form_add_number(words, moment_us / 1000000); break;
    case KIND_SPAN_US: form_add_number(words, span * 10000); break;
    case KIND_SPAN_MS: form_add_number(words, span * 10); break;
    case KIND_SPAN_S: form_add_number(words, span); break;
    case KIND_COUNT: form_add_number(words, random_below(random, 12)); break;
    case KIND_NAME: form_add_number(words, 1 + random_below(random, 5)); break;
    case KIND_FLAG: form_add_number(words, random_below(random, 2)); break;
    case KIND_ANY:
    default: form_add(words, gh_str_of(others[random_below(random, sizeof others / sizeof *others)])); break;
    }
}

static void add_argument(random_stream* random, const char* description, uint64_t now_us, form_words* words)
{
    kind is = kind_of(description);
    if (learned_count > 0 && random_one_in(random, is == KIND_ANY ? 3 : 10))
    {
        const uint64_t at = random_below(random, learned_count < LEARNED_MAX ? learned_count : LEARNED_MAX);
        form_add(words, gh_str_make(learned[at], learned_sizes[at]));
        return;
    }
    if (random_one_in(random, 25)) is = (kind)random_below(random, KIND_FLAG + 1);
    add_kind(random, is, now_us, words);
}

static uint32_t draw_count(random_stream* random, const gh_script_items* items)
{
    uint64_t count = items->least;
    if (items->more > 0) count += random_below(random, items->more + 1u);
    if (items->each > 0) count += items->each * random_below(random, 4);
    if (random_one_in(random, 60)) count += random_below(random, 3);
    return (uint32_t)(count > 30 ? 30 : count);
}

void scripts_draw(random_stream* random, uint64_t now_us, form_words* words)
{
    const head* one = &heads[random_below(random, GH_SCRIPT_COUNT)];
    const uint32_t keys = draw_count(random, &one->text->keys);
    const uint32_t arguments = draw_count(random, &one->text->arguments);
    form_add(words, gh_str_literal("EVALSHA"));
    form_add(words, gh_str_make(one->digest, 40));
    form_add_number(words, keys);
    add_keys(random, one, keys, words);
    for (uint32_t i = 0; i < arguments; i++)
        add_argument(random, one->arguments[i < ITEMS_MAX ? i : ITEMS_MAX - 1], now_us, words);
}

void scripts_count_reply(const form_words* words, gh_str reply)
{
    for (uint32_t i = 0; i < GH_SCRIPT_COUNT && words->count > 1; i++)
    {
        if (!gh_str_equal(words->words[1], gh_str_make(heads[i].digest, 40))) continue;
        called[i]++;
        if (reply.bytes[0] != '-') continue;
        refused[i]++;
        (void)snprintf(refusals[i], sizeof refusals[i], "%.*s", (int)strcspn(reply.bytes, "\r"), reply.bytes);
    }
}

void scripts_say(void)
{
    for (uint32_t i = 0; i < GH_SCRIPT_COUNT; i++)
        printf("  %-22s %8llu calls, %8llu refused  %s\n", script_names[i], (unsigned long long)called[i],
               (unsigned long long)refused[i], refusals[i]);
}

/* One text of the reply, or a whole number, now and then. */
void scripts_learn(random_stream* random, gh_str reply)
{
    uint64_t skipped = random_below(random, 6);
    size_t at = 0;
    while (at < reply.size && (reply.bytes[at] == '*' || reply.bytes[at] == '$' || skipped-- > 0))
    {
        const char* end = memchr(reply.bytes + at, '\n', reply.size - at);
        if (end == NULL) return;
        at = (size_t)(end + 1 - reply.bytes);
    }
    if (at < reply.size && reply.bytes[at] == ':') at++;
    size_t size = 0;
    while (at + size < reply.size && reply.bytes[at + size] != '\r') size++;
    if (size == 0 || size > LEARNED_SIZE || reply.bytes[0] == '-') return;
    const uint32_t place = learned_count++ % LEARNED_MAX;
    memcpy(learned[place], reply.bytes + at, size);
    learned_sizes[place] = size;
}
