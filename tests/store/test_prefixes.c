/* A script that ended in its middle, whatever it had written by then, leaves nothing that the next use of the object
   does not mend: nothing is CORRUPT, lost, held for ever or counted twice. Each script of each op is cut behind each of
   its writes; then the same request comes again, or does not, or all leases end first; then the object is used. */

#include "support/faults/half.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITES_MAX 200u

typedef enum afterwards
{
    AFTER_NOTHING = 0, /* nobody asks again */
    AFTER_REPEAT,      /* as the client does after a lost link, or its caller */
    AFTER_LEASES,      /* much later */
    AFTER_KINDS
} afterwards;

static const char* const after_names[] = {"", ", repeated", ", later"};

typedef struct prefix_judge
{
    drill* drill;
    unsigned tried;
    unsigned failed;
    bool sparse; /* one cut in four, where the same code runs elsewhere without gaps */
    random_stream random;
    char last[256];
} prefix_judge;

static void show_failure(prefix_judge* self, const drill_case* of, half_script script, unsigned writes,
                         afterwards after, const char* why)
{
    char line[256];
    snprintf(line, sizeof(line), "%s %s %d %s", of->name, script.name, (int)after, why);
    self->failed++;
    if (strcmp(line, self->last) == 0) return;
    memcpy(self->last, line, sizeof(line));
    printf("    prefixes: %s.%s: %s cut behind %u writes%s: %s\n", self->drill->system->name, of->name, script.name,
           writes, after_names[after], why);
}

/* Whether it was carried out does not matter. */
static bool is_read(const drill_case* of)
{
    static const char* const words[] = {"read", "fetch", "list", "look"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(of->name, words[i], strlen(words[i])) == 0) return true;
    return false;
}

/* What it writes is a hint, which may be there or not. */
static bool is_hint(half_script script)
{
    return strncmp(script.name, "chats_", 6) == 0;
}

/* A worker that leaves cannot know what became of a finish that was stopped, and says it again until its leases, which
   are of an hour here, are over. */
static bool asks_until_the_lease_is_over(const drill_case* of, half_script script, gh_status status)
{
    return status == GH_PENDING && strcmp(of->name, "worker") == 0 && strcmp(script.name, "tasks_finish") == 0;
}

/* What says "not done" must be true. Nothing was written: anything may be said. */
static bool is_true_of_a_half(const drill_case* of, unsigned writes, gh_status status)
{
    if (status == GH_PENDING) return false;
    if (writes == 0 || status == of->healthy || is_read(of)) return true;
    return status != GH_REFUSED && status != GH_CORRUPT && status != GH_CANCELLED && status != GH_FENCED &&
           status != GH_FULL && status != GH_TOO_LARGE && (status != GH_TIMEOUT || of->times_out);
}

/* False: the script did not come that far. */
static bool cut_once(prefix_judge* self, const drill_case* of, half_script script, unsigned writes, afterwards after)
{
    drill* scene = self->drill;
    char why[256] = "";
    drill_restore(scene, of);
    (void)drill_run(scene, of); /* a new client knows no digest before */
    drill_restore(scene, of);
    half_forget(scene);
    if (!half_install(scene, script, writes)) return false;
    gh_status status = drill_run(scene, of);
    half_remove(scene, script);
    if (!half_was_cut(scene)) return false;
    self->tried++;
    if (after == AFTER_NOTHING && !is_hint(script) && !asks_until_the_lease_is_over(of, script, status) &&
        !is_true_of_a_half(of, writes, status))
        show_failure(self, of, script, writes, after, gh_status_name(status));
    scene->repeated = after == AFTER_REPEAT;
    if (after == AFTER_REPEAT) half_repeat(scene, script);
    if (after == AFTER_LEASES) drill_let_leases_end(scene);
    if (!drill_heal(scene, why)) show_failure(self, of, script, writes, after, why);
    return true;
}

static void cut_everywhere(prefix_judge* self, const drill_case* of, half_script script)
{
    for (int after = 0; after < (self->drill->system->leases ? AFTER_KINDS : AFTER_LEASES); after++)
        for (unsigned writes = 0; writes < WRITES_MAX; writes++)
        {
            if (self->sparse && !random_one_in(&self->random, 4)) continue;
            if (!cut_once(self, of, script, writes, (afterwards)after)) break;
        }
}

/* Those that an op runs and that write. */
static void cut_scripts_of(prefix_judge* self, const drill_case* of)
{
    bool runs[256] = {false};
    drill* scene = self->drill;
    assert_true(half_count() <= 256);
    drill_restore(scene, of);
    (void)drill_run(scene, of);
    drill_restore(scene, of);
    for (size_t i = 0; i < half_count(); i++) (void)half_install(scene, half_at(i), HALF_WHOLE);
    (void)drill_run(scene, of);
    for (size_t i = 0; i < half_count(); i++)
    {
        runs[i] = half_ran(scene, half_at(i));
        half_remove(scene, half_at(i));
    }
    for (size_t i = 0; i < half_count(); i++)
        if (runs[i]) cut_everywhere(self, of, half_at(i));
}

static void judge_prefixes(const drill_system* system)
{
    prefix_judge self;
    memset(&self, 0, sizeof(self));
    self.sparse = getenv("GUILDHALL_STRIDE") != NULL;
    self.random = random_for_test("cuts");
    self.drill = system->leases ? drill_start_with_clock(system) : drill_start(system);
    for (size_t i = 0; i < system->count; i++) cut_scripts_of(&self, &system->cases[i]);
    if (self.failed > 0) printf("    prefixes: %s: %u of %u failed\n", system->name, self.failed, self.tried);
    assert_true(self.tried > 0);
    if (self.failed > 0) fail_msg("%s: %u of %u failed", system->name, self.failed, self.tried);
}

#define PREFIX_TEST(system)                                                                                            \
    static void system(void** state)                                                                                   \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        judge_prefixes(&drill_##system);                                                                               \
    }
DRILL_SYSTEMS(PREFIX_TEST)

#define PREFIX_TEST_NAME(system) cmocka_unit_test(system),
TEST_FILE(prefixes, DRILL_SYSTEMS(PREFIX_TEST_NAME));
