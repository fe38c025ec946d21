/* Ops that others do a part of the work of: they are told that a child has moved, once, and never inside a step. */

#include "client/op.h"
#include "support/scene/game.h"
#include "support/server/scripted.h"

#include <string.h>

#define MS       UINT64_C(1000)
#define CHILDREN 2

typedef struct family family;

typedef struct child
{
    gh_op op;
    family* family;
    uint32_t told_inside; /* how often its owner had been told when its last step was over */
} child;

struct family
{
    gh_op op;
    gh_op* next_owner;
    child children[CHILDREN];
    uint32_t told;
    uint32_t depth; /* of steps, of the owner and of its children */
    uint32_t deepest;
    bool ends_the_rest; /* an end of one child is the end of all */
};

static void enter(family* self)
{
    if (++self->depth > self->deepest) self->deepest = self->depth;
}

static void child_step(gh_op* op, const gh_event* event)
{
    child* self = (child*)(void*)op;
    enter(self->family);
    if (event->kind == GH_EVENT_TIMER)
    {
        gh_op_set_status(op, GH_HELD);
        gh_op_tell_owner(op);
    }
    if (event->kind == GH_EVENT_CANCEL || event->kind == GH_EVENT_CLOSE) gh_op_end(op, GH_CANCELLED);
    self->told_inside = self->family->told;
    self->family->depth--;
}

static gh_op* child_owner(const gh_op* op)
{
    return &((const child*)(const void*)op)->family->op;
}

static const gh_op_kind child_kind = {.name = "child", .step = child_step, .effect = GH_OP_READS, .owner = child_owner};

static uint32_t busy_children(const family* self)
{
    uint32_t count = 0;
    for (int i = 0; i < CHILDREN; i++) count += gh_op_is_busy(&self->children[i].op);
    return count;
}

static void family_step(gh_op* op, const gh_event* event)
{
    family* self = (family*)(void*)op;
    assert_int_equal(self->depth, 0);
    self->depth++;
    if (event->kind == GH_EVENT_CHILD) self->told++;
    if (event->kind == GH_EVENT_CHILD && self->ends_the_rest && busy_children(self) < CHILDREN)
    {
        for (int i = 0; i < CHILDREN; i++) gh_op_cancel(&self->children[i].op);
        if (self->told == 2) gh_op_end(op, GH_OK);
    }
    if (event->kind == GH_EVENT_CLOSE) gh_op_end(op, GH_CANCELLED);
    self->depth--;
}

static const gh_op_kind family_kind = {
    .name = "family", .step = family_step, .effect = GH_OP_READS, .owner_link = offsetof(family, next_owner)};

static scripted* begin(family* self)
{
    scripted* world = scripted_new();
    scripted_start_ready(world, NULL);
    memset(self, 0, sizeof *self);
    gh_op_begin(&self->op, world->client, &family_kind);
    for (int i = 0; i < CHILDREN; i++)
    {
        self->children[i].family = self;
        gh_op_begin(&self->children[i].op, world->client, &child_kind);
    }
    return world;
}

static void is_told_once_a_step_and_behind_it(void** state)
{
    (void)state;
    family self;
    scripted* world = begin(&self);
    for (int i = 0; i < CHILDREN; i++) gh_op_timer(&self.children[i].op, gh_client_now(world->client));
    scripted_tick(world, MS);
    assert_int_equal(self.told, CHILDREN); /* each has moved twice: its status, and it has said so */
    assert_int_equal(self.children[0].told_inside + self.children[1].told_inside, 0 + 1);
    assert_int_equal(self.deepest, 1);
    gh_client_shutdown(world->client);
}

static void is_told_before_a_function_of_the_callers_returns(void** state)
{
    (void)state;
    family self;
    scripted* world = begin(&self);
    gh_op_cancel(&self.children[0].op);
    assert_int_equal(self.told, 1);
    assert_int_equal(self.children[0].told_inside, 0);
    gh_op_detach(&self.children[1].op);
    assert_int_equal(self.told, 2);
    gh_client_shutdown(world->client);
}

static void is_told_once_of_many(void** state)
{
    (void)state;
    family self;
    scripted* world = begin(&self);
    gh_step_enter(world->client);
    for (int i = 0; i < CHILDREN; i++) gh_op_cancel(&self.children[i].op);
    gh_op_child_moved(&self.op);
    assert_int_equal(self.told, 0);
    gh_step_leave(world->client);
    assert_int_equal(self.told, 1);
    gh_client_shutdown(world->client);
}

static void what_it_does_to_its_children_comes_to_it_as_another_event(void** state)
{
    (void)state;
    family self;
    scripted* world = begin(&self);
    self.ends_the_rest = true;
    gh_op_cancel(&self.children[0].op);
    assert_int_equal(self.told, 2);
    assert_int_equal(busy_children(&self), 0);
    assert_status(gh_op_poll(&self.op), GH_OK);
    assert_int_equal(gh_client_ops_busy(world->client), 0);
    gh_client_shutdown(world->client);
}

static void is_told_nothing_once_it_is_over(void** state)
{
    (void)state;
    family self;
    family other;
    scripted* world = begin(&self);
    memset(&other, 0, sizeof other);
    gh_op_begin(&other.op, world->client, &family_kind);
    gh_step_enter(world->client);
    gh_op_child_moved(&self.op);
    gh_op_child_moved(&other.op);
    gh_op_end(&self.op, GH_OK); /* out of the middle, or the end, of those who are noted */
    gh_op_cancel(&self.children[0].op);
    gh_step_leave(world->client);
    assert_int_equal(self.told, 0);
    assert_int_equal(other.told, 1);
    gh_client_shutdown(world->client);
    assert_status(gh_op_poll(&other.op), GH_CANCELLED);
}

TEST_FILE(owners, cmocka_unit_test(is_told_once_a_step_and_behind_it),
          cmocka_unit_test(is_told_before_a_function_of_the_callers_returns), cmocka_unit_test(is_told_once_of_many),
          cmocka_unit_test(what_it_does_to_its_children_comes_to_it_as_another_event),
          cmocka_unit_test(is_told_nothing_once_it_is_over));
