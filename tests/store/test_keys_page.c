/* Tests that sdk/KEYS.md says the truth: its examples are run, its table of keys is held against a store in
   use, and its list of rights must suffice and hold nothing too much. */

#include "support/server/foreign.h"
#include "support/scene/game.h"
#include "support/scene/keys.h"
#include "support/scene/page.h"
#include "support/scene/rights.h"
#include "support/server/redis_server.h"
#include "support/scratch.h"
#include "support/source_tree.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAGE "sdk/KEYS.md"

/* ---- examples ------------------------------------------------------------------------------------------ */

/* A decimal number of six digits and more becomes N: times and fences. One that begins with 0 is part of a
   token. */
static void normalise(char* text)
{
    char* to = text;
    for (const char* from = text; *from != 0;)
    {
        size_t size = strspn(from, "0123456789");
        if (size >= 6 && *from != '0')
        {
            *to++ = 'N';
            from += size;
            continue;
        }
        size = size == 0 ? 1 : size;
        memmove(to, from, size);
        to += size;
        from += size;
    }
    *to = 0;
}

/* One shell runs all blocks, so that variables live on; what each command says goes into its own file. */
static void write_examples(const page_examples* examples, const char* folder)
{
    char path[SCRATCH_PATH_SIZE + 32];
    snprintf(path, sizeof(path), "%s/examples.sh", folder);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s", FOREIGN_SHELL);
    for (size_t i = 0; i < examples->count; i++)
        fprintf(file, "{\n%s} > '%s/%zu' 2>&1 || echo \"exit $?\" >> '%s/%zu'\n", examples->list[i].commands, folder, i,
                folder, i);
    assert_int_equal(fclose(file), 0);
}

static void run_examples(redis_server* server, const char* folder)
{
    char top[SOURCE_TREE_PATH_SIZE];
    char command[SOURCE_TREE_PATH_SIZE + 512];
    assert_true(source_tree_path(top, "."));
    snprintf(command, sizeof(command), "cd '%s' && SOCKET='%s' sh '%s/examples.sh'", top,
             redis_server_address(server) + strlen("unix:"), folder);
    assert_int_equal(system(command), 0);
}

static void examples_are_true(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char folder[SCRATCH_PATH_SIZE];
    page_examples examples = page_read_examples(PAGE, "sh");
    size_t shown = 0;
    unsigned wrong = 0;
    assert_true(examples.count >= 20);
    scratch_folder(folder);
    write_examples(&examples, folder);
    run_examples(server, folder);
    for (size_t i = 0; i < examples.count; i++)
    {
        char path[SCRATCH_PATH_SIZE + 32];
        snprintf(path, sizeof(path), "%s/%zu", folder, i);
        char* said = page_read_file(path);
        normalise(said);
        normalise(examples.list[i].shown);
        if (examples.list[i].shown[0] != 0) shown++;
        if (strcmp(said, examples.list[i].shown) != 0)
        {
            printf("    %s\n    the page shows:\n%s    the server said:\n%s", examples.list[i].commands,
                   examples.list[i].shown, said);
            wrong++;
        }
        free(said);
    }
    page_free_examples(&examples);
    assert_int_equal(wrong, 0);
    assert_true(shown >= 18);
}

/* ---- the table of keys --------------------------------------------------------------------------------- */

/* Locks in every state: held, with waiters, reserved for a waiter that sleeps, given back. */
static void use_locks(game* a, game* b)
{
    gh_lock* locks = GAME_NEW_ARRAY(a, gh_lock, 3);
    gh_lock* waiters = GAME_NEW_ARRAY(b, gh_lock, 2);
    const char* names[] = {"held by {a}", "with waiters", "given back"};
    for (int i = 0; i < 3; i++) assert_status(gh_lock_begin(&locks[i], a->client, gh_str_of(names[i]), NULL), GH_OK);
    for (int i = 0; i < 3; i++) GAME_UNTIL(gh_op_poll(&locks[i].op) == GH_HELD);
    for (int i = 0; i < 2; i++)
        assert_status(gh_lock_begin(&waiters[i], b->client, gh_str_of(names[1 + i]), NULL), GH_OK);
    for (int i = 0; i < 2; i++) GAME_UNTIL(waiters[i].position == 1);
    b->asleep = true;
    gh_lock_release(&locks[2]);
    GAME_UNTIL(gh_op_poll(&locks[2].op) == GH_OK);
}

static void keys_of_locks_are_in_the_table(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    use_locks(a, b);
    keys_must_be_on_the_page(server, "gh:{lock:");
    keys_must_be_on_the_page(server, "gh:epoch");
}

/* ---- rights -------------------------------------------------------------------------------------------- */

#define RULES_MAX 64

/* The words of the page's ACL SETUSER behind the user's name. */
typedef struct rights
{
    char* text;
    const char* rules[RULES_MAX];
    size_t count;
} rights;

static rights read_rights(void)
{
    rights self = {NULL, {NULL}, 0};
    self.text = page_copy(rights_of_the_page());
    char* line = strchr(self.text, ' ') + 1;
    for (char* word = strtok(line, " "); word != NULL; word = strtok(NULL, " "))
    {
        assert_true(self.count < RULES_MAX);
        self.rules[self.count++] = word;
    }
    return self;
}

/* Gives a user all of these but one; without == count leaves none out. */
static void set_user(redis_server* server, const rights* self, size_t without)
{
    const char* words[RULES_MAX + 4] = {"ACL", "SETUSER", "game", "reset"};
    size_t count = 4;
    for (size_t i = 0; i < self->count; i++)
        if (i != without) words[count++] = self->rules[i];
    char line[2048] = "";
    for (size_t i = 0; i < count; i++) snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s ", words[i]);
    line[strlen(line) - 1] = 0;
    redis_server_do(server, line);
}

static gh_client_config user_config(redis_server* server)
{
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_literal("game");
    config.password = gh_str_literal("secret");
    config.database = 1;
    return config;
}

/* Grows where what must work did not in time, as on a machine that has much else to do. */
static uint64_t patience = 1;

/* Ticks all games until that many microseconds are over, or it is so. */
#define TRY_UNTIL(condition, within_us)                                                                                \
    do                                                                                                                 \
    {                                                                                                                  \
        uint64_t try_end_us = wait_now_us() + (within_us) * patience * suite_patience();                               \
        while (!(condition) && wait_now_us() < try_end_us) game_tick_all();                                            \
    } while (0)

static bool takes(game* from, gh_lock* lock)
{
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = patience * SECOND_US;
    config.wait_us = 3 * patience * SECOND_US;
    if (gh_lock_begin(lock, from->client, gh_str_literal("sword"), &config) != GH_OK) return false;
    TRY_UNTIL(gh_op_poll(&lock->op) != GH_PENDING || lock->position > 0, 2 * SECOND_US);
    return gh_op_poll(&lock->op) == GH_HELD || lock->position > 0;
}

static bool is_content(game* self)
{
    gh_client_stats stats = game_stats(self);
    return gh_client_link_state(self->client, GH_LINK_WAKE) == GH_LINK_READY && self->errors_logged == 0 &&
           (stats.warnings & ~(uint32_t)GH_WARNING_NO_AOF) == 0;
}

/* One lock through all that can happen to it: taken, renewed, waited for by two, given back, a turn slept
   through, a waiter that leaves. True if every step goes as it should. */
static bool lock_lives(game* a, game* b, game* c)
{
    gh_lock* owner = GAME_NEW(a, gh_lock);
    gh_lock* sleeper = GAME_NEW(b, gh_lock);
    gh_lock* heir = GAME_NEW(c, gh_lock);
    gh_lock* leaver = GAME_NEW(a, gh_lock);
    if (!takes(a, owner) || gh_op_poll(&owner->op) != GH_HELD || !takes(b, sleeper) || !takes(c, heir)) return false;
    uint64_t least_us = gh_lock_remaining_us(owner);
    TRY_UNTIL(gh_lock_remaining_us(owner) > least_us || (least_us = gh_lock_remaining_us(owner)) == 0, 2 * SECOND_US);
    if (least_us == 0 || gh_lock_remaining_us(owner) <= least_us) return false; /* nobody renewed it */
    b->asleep = true;
    gh_lock_release(owner);
    TRY_UNTIL(gh_op_poll(&heir->op) != GH_PENDING, 2 * SECOND_US);
    b->asleep = false;
    if (gh_op_poll(&heir->op) != GH_HELD || gh_op_poll(&owner->op) != GH_OK || !takes(a, leaver)) return false;
    gh_op_cancel(&leaver->op);
    TRY_UNTIL(gh_op_poll(&leaver->op) != GH_PENDING, SECOND_US);
    gh_lock_release(sleeper); /* or a renewal would load a script when nobody expects it */
    gh_lock_release(heir);
    TRY_UNTIL(!gh_op_is_busy(&sleeper->op) && !gh_op_is_busy(&heir->op), 2 * SECOND_US);
    return gh_op_poll(&leaver->op) == GH_CANCELLED && gh_op_poll(&heir->op) == GH_OK;
}

/* The wake link is silent for so long that it pings; with an answer it stays. */
static bool wake_link_stays(game* self)
{
    self->ahead_us += 6 * (int64_t)SECOND_US;
    TRY_UNTIL(gh_client_link_state(self->client, GH_LINK_WAKE) != GH_LINK_READY, SECOND_US / 10);
    return gh_client_link_state(self->client, GH_LINK_WAKE) == GH_LINK_READY;
}

/* Nothing will make it content again. */
static bool is_hopeless(game* self)
{
    return self->errors_logged > 0 || (game_stats(self).warnings & ~(uint32_t)GH_WARNING_NO_AOF) != 0;
}

static bool becomes_content(game* self)
{
    TRY_UNTIL((gh_client_ready(self->client) && is_content(self)) || is_hopeless(self), SECOND_US / 2);
    return gh_client_ready(self->client) && is_content(self);
}

/* On a new connection, to a server that has them. The first game has used all that its locks had use for; another one
   that held a lock for a moment loads what renews it, and sleeps meanwhile. */
static bool scripts_are_not_loaded_again(redis_server* server, game* const games[3])
{
    const long long loads = redis_server_calls(server, "script|load");
    const uint64_t ready = game_stats(games[0]).links_ready;
    games[1]->asleep = games[2]->asleep = true;
    redis_server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
    GAME_UNTIL(game_stats(games[0]).links_ready > ready);
    games[1]->asleep = games[2]->asleep = false;
    return redis_server_calls(server, "script|load") == loads;
}

/* NULL: all of it works. Else what did not. */
static const char* what_fails(redis_server* server, game* const games[3])
{
    if (strstr(redis_server_text(server, "CLIENT LIST"), "name=guildhall ") == NULL) return "CLIENT SETNAME";
    if (!lock_lives(games[0], games[1], games[2])) return "a lock's life";
    if (!wake_link_stays(games[0])) return "the ping of the wake link";
    if (!scripts_are_not_loaded_again(server, games)) return "SCRIPT EXISTS";
    for (int i = 0; i < 3; i++)
        if (!becomes_content(games[i])) return "a client that was content";
    return NULL;
}

static const char* what_fails_anew(redis_server* server)
{
    gh_client_config config = user_config(server);
    game* games[3];
    int count = 0;
    const char* fails = NULL;
    redis_server_do(server, "FLUSHALL");
    redis_server_do(server, "SCRIPT FLUSH");
    for (; count < 3 && fails == NULL; count++)
    {
        games[count] = game_start_with(&config);
        if (!becomes_content(games[count])) fails = "the hand-shake";
    }
    if (fails == NULL) fails = what_fails(server, games);
    while (count-- > 0) game_end(games[count]);
    return fails;
}

static void rights_suffice(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    rights page = read_rights();
    set_user(server, &page, page.count);
    const char* fails = "";
    for (patience = 1; patience <= 16 && fails != NULL; patience *= 2) fails = what_fails_anew(server);
    patience = 1;
    free(page.text);
    if (fails != NULL) fail_msg("%s", fails);
}

/* ---- which part needs which ---- */

/* The part of Guildhall that a script file belongs to: "lock" of "lock_acquire.lua". */
static void part_of(char part[32], const char* file_name)
{
    snprintf(part, 32, "%.*s", (int)strcspn(file_name, "_."), file_name);
    if (strcmp(part, "epoch") == 0 || strcmp(part, "rights") == 0) strcpy(part, "client");
    if (strcmp(part, "fenced") == 0) strcpy(part, "command");
}

static bool has_word(const char* words, const char* word)
{
    size_t size = strlen(word);
    for (const char* at = words; *at != 0; at += strspn(at, " "))
    {
        if (strcspn(at, " ") == size && strncasecmp(at, word, size) == 0) return true;
        at += strcspn(at, " ");
    }
    return false;
}

static const char* commands_of(const page_table* table, const char* part)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].cells[0], part) == 0) return table->rows[i].cells[1];
    return NULL;
}

static bool has_rule(const rights* self, const char* command)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->rules[i][0] == '+' && strcasecmp(self->rules[i] + 1, command) == 0) return true;
    return false;
}

/* Says each command that the scripts of a part call by name. */
typedef void (*command_visitor)(void* context, const char* part, const char* command);

static void visit_text(const char* part, const char* text, command_visitor visit, void* context)
{
    for (const char* at = strstr(text, "call('"); at != NULL; at = strstr(at, "call('"))
    {
        char command[32];
        at += strlen("call('");
        snprintf(command, sizeof(command), "%.*s", (int)strcspn(at, "'"), at);
        visit(context, part, command);
    }
}

/* Those of its parts too: each script calls them. A file that is such a part says what it wants. */
static void visit_script(const char* top, const char* folder, const char* name, command_visitor visit, void* context)
{
    static const char marker[] = "--@ "; /* at the head of a line, or in a branch */
    char path[2 * SOURCE_TREE_PATH_SIZE];
    char part[32];
    snprintf(path, sizeof(path), "%s/%s/%s", top, folder, name);
    part_of(part, name);
    char* text = page_read_file(path);
    if (strstr(text, "\n-- wants ") != NULL)
    {
        free(text);
        return;
    }
    visit_text(part, text, visit, context);
    for (char* at = strstr(text, marker); at != NULL; at = strstr(at, marker))
    {
        at += strlen(marker);
        snprintf(path, sizeof(path), "%s/%.*s", top, (int)strcspn(at, "\n"), at);
        char* shared = page_read_file(path);
        visit_text(part, shared, visit, context);
        free(shared);
    }
    free(text);
}

static void visit_folder(const char* top, const char* folder, command_visitor visit, void* context)
{
    char path[2 * SOURCE_TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", top, folder);
    DIR* listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent* entry = readdir(listing); entry != NULL; entry = readdir(listing))
    {
        size_t size = strlen(entry->d_name);
        if (size > 4 && strcmp(entry->d_name + size - 4, ".lua") == 0)
            visit_script(top, folder, entry->d_name, visit, context);
    }
    closedir(listing);
}

static void visit_commands(command_visitor visit, void* context)
{
    char top[SOURCE_TREE_PATH_SIZE];
    assert_true(source_tree_path(top, "sdk/src"));
    DIR* listing = opendir(top);
    assert_non_null(listing);
    for (struct dirent* entry = readdir(listing); entry != NULL; entry = readdir(listing))
        if (entry->d_name[0] != '.') visit_folder(top, entry->d_name, visit, context);
    closedir(listing);
}

typedef struct rights_check
{
    const rights* rules;
    const page_table* parts;
    const char* part; /* sought_in */
    const char* command;
    unsigned calls;
    bool found;
} rights_check;

static void must_be_granted(void* context, const char* part, const char* command)
{
    rights_check* check = context;
    const char* commands = commands_of(check->parts, part);
    if (strcasecmp(command, "SPUBLISH") == 0) command = "PUBLISH"; /* in its place where hints are sharded */
    check->calls++;
    if (commands == NULL) fail_msg("%s: no row for the part %s, which calls %s", PAGE, part, command);
    if (!has_word(commands, command)) fail_msg("%s: the row of %s lacks %s", PAGE, part, command);
    if (!has_rule(check->rules, command)) fail_msg("%s: ACL SETUSER lacks +%s", PAGE, command);
}

static void look_for(void* context, const char* part, const char* command)
{
    rights_check* check = context;
    if (strcmp(part, check->part) == 0 && strcasecmp(command, check->command) == 0) check->found = true;
}

/* Each command that a script calls is granted, in branches too that no test comes by; and each that is
   granted to a part is called by it. */
static void rights_are_those_of_the_scripts(void** state)
{
    (void)state;
    rights page = read_rights();
    page_table parts = page_read_table(PAGE, "| part | commands");
    rights_check check = {&page, &parts, NULL, NULL, 0, false};
    visit_commands(must_be_granted, &check);
    assert_true(check.calls >= 30);
    for (size_t i = 0; i < parts.count; i++)
    {
        char* words = page_copy(parts.rows[i].cells[1]);
        check.part = parts.rows[i].cells[0];
        for (char* word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
        {
            check.command = word;
            check.found = false;
            visit_commands(look_for, &check);
            if (!check.found) fail_msg("%s: no script of %s calls %s", PAGE, check.part, word);
        }
        free(words);
    }
    page_free_table(&parts);
    free(page.text);
}

/* Only another system's scripts call it: a lock has no use for it. */
static bool is_of_another_system(const page_table* parts, const char* rule)
{
    bool found = false;
    for (size_t i = 0; i < parts->count; i++)
    {
        const char* part = parts->rows[i].cells[0];
        bool ours = strcmp(part, "client") == 0 || strcmp(part, "lock") == 0;
        if (!has_word(parts->rows[i].cells[1], rule + 1)) continue;
        if (ours) return false;
        found = true;
    }
    return found;
}

static void no_right_is_too_much(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    rights page = read_rights();
    page_table parts = page_read_table(PAGE, "| part | commands");
    unsigned needless = 0;
    for (size_t i = 0; i < page.count; i++)
    {
        bool takes_away = page.rules[i][0] == '-' || strcmp(page.rules[i], "resetchannels") == 0;
        if (takes_away || is_of_another_system(&parts, page.rules[i])) continue;
        set_user(server, &page, i);
        if (what_fails_anew(server) != NULL) continue;
        printf("    all works without %s\n", page.rules[i]);
        needless++;
    }
    page_free_table(&parts);
    free(page.text);
    assert_int_equal(needless, 0);
}

TEST_FILE(keys_page, cmocka_unit_test(examples_are_true), cmocka_unit_test(keys_of_locks_are_in_the_table),
          cmocka_unit_test(rights_suffice), cmocka_unit_test(rights_are_those_of_the_scripts),
          cmocka_unit_test(no_right_is_too_much));
