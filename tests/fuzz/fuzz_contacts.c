/* fuzz_contacts.c -- contacts in the caller's memory, touched, removed and completed, against a list that is looked
   through. */

#include "world.h"

#include "contacts/contacts_shared.h"

#define CAPACITY_MAX 8u

typedef struct entry
{
    gh_name name;
    uint64_t time_us;
} entry;

typedef struct model
{
    entry entries[CAPACITY_MAX]; /* the newest first */
    uint32_t count;
    uint32_t capacity;
    gh_fold fold;
} model;

/* One that never connects: a mirror wants to be somebody's. */
static gh_client* any_client(void)
{
    static world the_world;
    const gh_client_config config = world_config();
    if (the_world.client == NULL) FUZZ_MUST(world_start(&the_world, &config, gh_str_make(NULL, 0)));
    return the_world.client;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static void model_remove(model* m, gh_str name)
{
    for (uint32_t i = 0; i < m->count; i++)
    {
        if (!gh_str_equal(gh_name_str(&m->entries[i].name), name)) continue;
        m->count--;
        memmove(m->entries + i, m->entries + i + 1, (m->count - i) * sizeof(entry));
        return;
    }
}

static void model_touch(model* m, gh_str name, uint64_t time_us)
{
    model_remove(m, name);
    if (m->count == m->capacity) m->count--;
    memmove(m->entries + 1, m->entries, m->count * sizeof(entry));
    m->count++;
    memcpy(m->entries[0].name.bytes, name.bytes, name.size);
    m->entries[0].name.size = (uint8_t)name.size;
    m->entries[0].time_us = time_us;
}

static bool begins(const model* m, gh_str name, gh_str prefix)
{
    char whole[GH_FOLDED_SIZE_MAX], first[GH_FOLDED_SIZE_MAX];
    const size_t size = gh_fold_apply(m->fold, NULL, name, whole), wanted = gh_fold_apply(m->fold, NULL, prefix, first);
    return wanted <= size && memcmp(whole, first, wanted) == 0;
}

static void must_complete(const model* m, const gh_contacts* contacts, gh_str prefix, uint32_t limit)
{
    gh_contact found[CAPACITY_MAX];
    const uint32_t count = gh_contacts_complete(contacts, prefix, found, limit);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < m->count && expected < limit; i++)
    {
        const gh_str name = gh_name_str(&m->entries[i].name);
        if (!begins(m, name, prefix)) continue;
        FUZZ_MUST(expected < count && gh_str_equal(found[expected].name, name));
        FUZZ_MUST(found[expected].time_us == m->entries[i].time_us);
        expected++;
    }
    if (count != expected) FUZZ_FAIL("%u are found, not %u", count, expected);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Names that have much in common. */
static gh_str draw_name(fuzz_input* input, char text[GH_NAME_SIZE_MAX])
{
    static const char* const heads[] = {"jeff", "Jeff", "JEFF", "jenny_of_the_hill_over_there", "\xc3\x84rger", ""};
    const char* head = heads[fuzz_below(input, FUZZ_COUNT(heads))];
    const gh_str tail = fuzz_text(input, GH_NAME_SIZE_MAX - strlen(head));
    memcpy(text, head, strlen(head));
    memcpy(text + strlen(head), tail.bytes, tail.size);
    return gh_str_make(text, strlen(head) + tail.size);
}

static void step(model* m, gh_contacts* contacts, fuzz_input* input)
{
    char text[GH_NAME_SIZE_MAX];
    const uint8_t which = fuzz_byte(input);
    const gh_str name = draw_name(input, text);
    if (which >= 240)
    {
        gh_contacts_mirror_clear(contacts);
        m->count = 0;
    }
    else if (which >= 160) must_complete(m, contacts, name, 1 + (which & 7u));
    else if (name.size == 0) return;
    else if (which >= 96)
    {
        gh_contacts_mirror_remove(contacts, name);
        model_remove(m, name);
    }
    else
    {
        gh_contacts_mirror_touch(contacts, name, which);
        model_touch(m, name, which);
    }
    FUZZ_MUST(contacts->count == m->count);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_input input = fuzz_input_of(data, size);
    gh_contacts_config config = gh_contacts_config_default();
    gh_contacts contacts = GH_ZERO;
    model m;
    const uint8_t how = fuzz_byte(&input);
    memset(&m, 0, sizeof(m));
    config.capacity = m.capacity = 1 + how % CAPACITY_MAX;
    config.fold = m.fold = (how & 64) != 0 ? gh_fold_utf8 : (how & 128) != 0 ? gh_fold_ascii : NULL;
    const size_t memory_size = gh_contacts_memory(&config);
    void* memory = fuzz_block(memory_size);
    FUZZ_MUST(gh_contacts_init(&contacts, any_client(), gh_str_literal("mia"), &config, memory, memory_size) == GH_OK);
    for (int i = 0; i < 200 && fuzz_left(&input) > 0; i++) step(&m, &contacts, &input);
    must_complete(&m, &contacts, gh_str_make(NULL, 0), CAPACITY_MAX);
    free(memory);
    return 0;
}
