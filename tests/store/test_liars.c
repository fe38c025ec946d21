/* Scripts that say what they never say: a code that there is not, or one of another case; numbers and texts that cannot
   be, answers that are too long or too short. Each op ends, and no assertion hears of it. */

#include "support/faults/liar.h"

#include <stdio.h>
#include <string.h>

#define CODES        13 /* more than any script has, and ... */
#define CODE_UNHEARD 99

typedef struct liars
{
    drill* drill;
    game* game; /* in which they are installed */
    unsigned elements[256];
    unsigned told;
    unsigned failed;
} liars;

/* Its client has to know the scripts first, so it runs the case. */
static void install(liars* self, const drill_case* of)
{
    drill_restore(self->drill, of);
    (void)drill_run(self->drill, of);
    for (size_t i = 0; i < half_count(); i++) (void)liar_install(self->drill, half_at(i));
    self->game = self->drill->game;
}

static void count_elements(liars* self, const drill_case* of)
{
    install(self, of);
    drill_restore(self->drill, of);
    gh_status status = drill_run(self->drill, of);
    if (status != of->healthy) fail_msg("%s.%s ends %s", self->drill->system->name, of->name, gh_status_name(status));
    for (size_t i = 0; i < half_count(); i++) self->elements[i] = liar_elements(self->drill, half_at(i));
}

static void begin_lie(liars* self, const drill_case* of)
{
    drill_restore(self->drill, of);
    if (self->drill->game == self->game) return;
    install(self, of);
    drill_restore(self->drill, of);
}

/* False: it has not come to be told. */
static bool end_lie(liars* self, const drill_case* of, half_script script, unsigned element, const char* what)
{
    gh_status status = drill_run(self->drill, of);
    bool lied = liar_has_lied(self->drill, script);
    self->told += lied;
    if (status != GH_PENDING) return lied;
    self->failed++;
    printf("    liars: %s.%s does not end: element %u of %s is %s\n", self->drill->system->name, of->name, element,
           script.name, what);
    return lied;
}

static bool tell_number(liars* self, const drill_case* of, half_script script, unsigned element, long long number)
{
    char what[32];
    snprintf(what, sizeof(what), "%lld", number);
    begin_lie(self, of);
    liar_prepare(self->drill, script, element, number);
    return end_lie(self, of, script, element, what);
}

static void tell_text(liars* self, const drill_case* of, half_script script, unsigned element, const char* text)
{
    begin_lie(self, of);
    liar_prepare_text(self->drill, script, element, text);
    (void)end_lie(self, of, script, element, text);
}

static void tell_size(liars* self, const drill_case* of, half_script script, unsigned elements)
{
    begin_lie(self, of);
    liar_prepare_size(self->drill, script, elements);
    (void)end_lie(self, of, script, elements, "the last");
}

static void tell_form(liars* self, const drill_case* of, half_script script)
{
    begin_lie(self, of);
    liar_prepare_form(self->drill, script);
    (void)end_lie(self, of, script, 0, "of another form");
}

static void try_script(liars* self, const drill_case* of, half_script script, unsigned elements)
{
    static const long long numbers[] = {0, 1, 1000, 1LL << 53, -1};
    static const char* const texts[] = {"", "x", "18446744073709551616"};
    if (!tell_number(self, of, script, 2, CODE_UNHEARD)) return; /* what it is run for lies in front of the case */
    for (long long code = 0; code < CODES; code++) (void)tell_number(self, of, script, 2, code);
    tell_form(self, of, script);
    if (of->times_out) return; /* each would wait for long */
    for (unsigned element = 3; element <= elements; element++)
    {
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
            (void)tell_number(self, of, script, element, numbers[i]);
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) tell_text(self, of, script, element, texts[i]);
    }
    for (unsigned size = 2; size <= elements + 2; size++)
        if (size != elements) tell_size(self, of, script, size);
}

static void try_system(const drill_system* system)
{
    static liars self;
    memset(&self, 0, sizeof(self));
    self.drill = drill_start(system);
    assert_true(half_count() <= sizeof(self.elements) / sizeof(self.elements[0]));
    for (size_t i = 0; i < system->count; i++)
    {
        count_elements(&self, &system->cases[i]);
        for (size_t k = 0; k < half_count(); k++)
            if (self.elements[k] > 0) try_script(&self, &system->cases[i], half_at(k), self.elements[k]);
    }
    assert_true(self.told > 10);
    if (self.failed > 0) fail_msg("%s: %u of %u lies are waited for", system->name, self.failed, self.told);
}

/* A lease is told with a fence: one of 0 is refused wherever it is a condition, so it would not protect anything. */
static void try_grant_without_fence(const drill_system* system, const char* script)
{
    static liars self;
    const drill_case* of = &system->cases[0];
    size_t k = 0;
    memset(&self, 0, sizeof(self));
    self.drill = drill_start(system);
    count_elements(&self, of);
    while (strcmp(half_at(k).name, script) != 0) k++;
    begin_lie(&self, of);
    liar_prepare(self.drill, half_at(k), 3, 0);
    gh_status status = drill_run(self.drill, of);
    assert_true(liar_has_lied(self.drill, half_at(k)));
    assert_int_not_equal(status, GH_PENDING);
    assert_int_not_equal(status, of->healthy);
}

static void grant_without_fence_is_none(void** state)
{
    (void)state;
    try_grant_without_fence(&drill_lock, "lock_acquire");
    try_grant_without_fence(&drill_semaphore, "semaphore_acquire");
}

#define LIARS_TEST(system)                                                                                             \
    static void system(void** state)                                                                                   \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        try_system(&drill_##system);                                                                                   \
    }
DRILL_SYSTEMS(LIARS_TEST)

#define LIARS_TEST_NAME(system) cmocka_unit_test(system),
TEST_FILE(liars, DRILL_SYSTEMS(LIARS_TEST_NAME) cmocka_unit_test(grant_without_fence_is_none));
