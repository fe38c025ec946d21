/* counters_batch.c -- from slots to the store.

   The control op's timer brings the 64 shards round, one after the other, once in flush_us, so that they do
   not all send in the same frame. A shard with something to send gets a lane: what waits is frozen into a
   batch, which the lane sends, and sends again, until it is answered. What is added meanwhile waits for the
   next batch.

       lane   idle -- freeze --> (row of this shard) --> SENT --> settled --> idle */

#include "counters_state.h"
#include "scripts/counters_scripts.h"
#include "wire/name.h"

/* Shorter than what the store remembers of a batch, so that sending again can never count twice. */
#define COUNTERS_BATCH_US 300000000ull

typedef enum counters_outcome
{
    COUNTERS_COUNTED,
    COUNTERS_REFUSED,
    COUNTERS_UNKNOWN,
    COUNTERS_BACK /* it was certainly not carried out: into the next batch */
} counters_outcome;

static gh_counters_lane* counters_lane_of(gh_op* op)
{
    return (gh_counters_lane*)(void*)op;
}

/* ---- a batch is settled -------------------------------------------------------------------------------- */

static void counters_slot_take_back(gh_counters_lane* lane, uint32_t index)
{
    gh_counters* self = lane->counters;
    gh_counters_slot* slot = &self->slots[index];
    gh_counters_shard* shard = &self->shards[lane->shard];
    int64_t sum = slot->live + slot->frozen; /* each within 2^53 */
    gh_counters_mark_dirty(self, index, lane->first_us);
    slot->since = (uint32_t)(lane->first_us >> 10);
    if (lane->first_us < shard->first_us) shard->first_us = lane->first_us;
    if (lane->last_us > shard->last_us) shard->last_us = lane->last_us;
    slot->live_adds += slot->frozen_adds;
    slot->live = sum;
    if (sum <= GH_COUNTERS_SUM_MAX && sum >= -GH_COUNTERS_SUM_MAX) return;
    slot->live = sum > 0 ? GH_COUNTERS_SUM_MAX : -GH_COUNTERS_SUM_MAX;
    self->stats.saturated++;
}

static void counters_slot_settle(gh_counters_lane* lane, uint32_t index, counters_outcome outcome)
{
    gh_counters* self = lane->counters;
    gh_counters_slot* slot = &self->slots[index];
    switch (outcome)
    {
    case COUNTERS_COUNTED: self->stats.counted += slot->frozen_adds; break;
    case COUNTERS_REFUSED: self->stats.refused += slot->frozen_adds; break;
    case COUNTERS_UNKNOWN: self->stats.unknown += slot->frozen_adds; break;
    case COUNTERS_BACK: counters_slot_take_back(lane, index); break;
    }
    slot->frozen = 0;
    slot->frozen_adds = 0;
    slot->flags &= (uint8_t)~GH_COUNTER_FROZEN;
    gh_counters_free_slot(self, index);
}

static counters_outcome counters_lane_outcome_of(gh_counters* self, char letter)
{
    switch (letter)
    {
    case GH_COUNTERS_FLUSH_AT_LIMIT: self->stats.saturated++; return COUNTERS_COUNTED;
    case GH_COUNTERS_FLUSH_FULL: self->stats.last_refusal = GH_FULL; return COUNTERS_REFUSED;
    case GH_COUNTERS_FLUSH_CORRUPT: self->stats.last_refusal = GH_CORRUPT; return COUNTERS_REFUSED;
    default: return COUNTERS_COUNTED;
    }
}

/* A letter for each counter; NULL: the same for all. */
static void counters_lane_settle(gh_counters_lane* lane, const char* letters, counters_outcome outcome)
{
    gh_counters* self = lane->counters;
    uint32_t index = lane->first;
    uint32_t i;
    for (i = 0; index != GH_COUNTERS_NONE; i++)
    {
        uint32_t next = self->slots[index].next_frozen;
        counters_slot_settle(lane, index, letters == NULL ? outcome : counters_lane_outcome_of(self, letters[i]));
        index = next;
    }
    GH_INVARIANT(lane->op.client, (self->busy >> lane->shard & 1) != 0);
    lane->first = GH_COUNTERS_NONE;
    self->busy &= ~(1ull << lane->shard);
    gh_gate_leave(&lane->gate);
}

static void counters_lane_end(gh_counters_lane* lane, const char* letters, counters_outcome outcome)
{
    GH_INVARIANT(lane->op.client, lane->first != GH_COUNTERS_NONE);
    gh_op_unsend(&lane->op);
    gh_op_timer(&lane->op, GH_FOREVER);
    counters_lane_settle(lane, letters, outcome);
    if (outcome == COUNTERS_BACK && lane->counters->ending) lane->counters->due |= lane->counters->dirty;
    gh_counters_serve(lane->counters);
    if (lane->counters->ending) gh_op_tell_owner(&lane->op);
}

void gh_counters_abandon_batch(gh_counters_lane* lane)
{
    if (lane->first == GH_COUNTERS_NONE) return;
    counters_lane_settle(lane, NULL, gh_op_maybe_done(&lane->op) ? COUNTERS_UNKNOWN : COUNTERS_REFUSED);
}

/* ---- a batch is made ----------------------------------------------------------------------------------- */

size_t gh_counters_keys_size(const gh_counters* counters, size_t encoded_size)
{
    return (1 + counters->config.precision_count) * (encoded_size + 96) + 48;
}

/* One more than these would be too much of what is late; or it is of another time, or has no room; or it is the same
   counter in another place, as one that was closed and opened again: of two in one batch the store counts one. */
static bool counters_lane_takes(const gh_counters_lane* lane, const gh_counters_slot* slot, uint32_t at_s, size_t room)
{
    const gh_counters_slot* slots = lane->counters->slots;
    const gh_str name = gh_str_make(slot->name, slot->name_size);
    const uint64_t now_us = gh_client_now(lane->op.client);
    const uint64_t since_us = gh_counters_since_us(slot, now_us);
    const uint64_t first_us = since_us < lane->first_us ? since_us : lane->first_us;
    const bool late = at_s != 0 || now_us - first_us > GH_COUNTERS_LATE_US;
    uint32_t i;
    if (slot->at_s != at_s || lane->count >= (late ? GH_COUNTERS_LATE_MAX : GH_COUNTERS_BATCH_MAX)) return false;
    if (gh_counters_keys_size(lane->counters, gh_name_encoded_size(name)) > room) return false;
    for (i = lane->first; i != GH_COUNTERS_NONE; i = slots[i].next_frozen)
        if (gh_str_equal(gh_str_make(slots[i].name, slots[i].name_size), name)) return false;
    return true;
}

/* Moves what waits into the batch, first come first, as much as one request takes, and of one time. */
static void counters_lane_freeze_slots(gh_counters_lane* lane, gh_counters_shard* shard)
{
    gh_counters* self = lane->counters;
    const uint64_t now_us = gh_client_now(self->control.client);
    size_t room = gh_client_out_room(self->control.client) - GH_COUNTERS_ROOM;
    uint32_t* link = &lane->first;
    uint32_t at_s = self->slots[shard->first].at_s;
    lane->count = 0;
    lane->first_us = now_us;
    while (shard->first != GH_COUNTERS_NONE)
    {
        gh_counters_slot* slot = &self->slots[shard->first];
        const uint64_t since_us = gh_counters_since_us(slot, now_us);
        if (!counters_lane_takes(lane, slot, at_s, room)) break;
        room -= gh_counters_keys_size(self, gh_name_encoded_size(gh_str_make(slot->name, slot->name_size)));
        if (since_us < lane->first_us) lane->first_us = since_us;
        *link = shard->first;
        link = &slot->next_frozen;
        *link = GH_COUNTERS_NONE;
        shard->first = slot->next_dirty;
        slot->frozen = slot->live;
        slot->frozen_adds = slot->live_adds;
        slot->live = 0;
        slot->live_adds = 0;
        slot->flags = (uint8_t)((slot->flags & ~GH_COUNTER_DIRTY) | GH_COUNTER_FROZEN);
        lane->count++;
    }
}

static void counters_lane_freeze(gh_counters_lane* lane, uint32_t number)
{
    gh_counters* self = lane->counters;
    gh_counters_shard* shard = &self->shards[number];
    uint64_t bit = 1ull << number;
    lane->shard = number;
    lane->last_us = shard->last_us;
    GH_INVARIANT(lane->op.client, lane->first == GH_COUNTERS_NONE && (self->busy & bit) == 0);
    counters_lane_freeze_slots(lane, shard);
    GH_INVARIANT(lane->op.client, lane->count > 0);
    if (shard->first == GH_COUNTERS_NONE)
    {
        shard->last = GH_COUNTERS_NONE;
        self->dirty &= ~bit;
        self->due &= ~bit;
    }
    else
    {
        shard->first_us = gh_counters_since_us(&self->slots[shard->first], gh_client_now(self->control.client));
    }
    self->busy |= bit;
    gh_op_renumber(&lane->op);
    gh_op_timer_after(&lane->op, COUNTERS_BATCH_US);
}

static void counters_lane_send(gh_counters_lane* lane)
{
    gh_gate* gate = &lane->gate;
    char number[GH_DECIMAL_SIZE_MAX];
    gh_str name = gh_str_make(number, (size_t)(gh_decimal_encode(lane->shard, number) - number));
    uint64_t object = gh_gate_object(lane->op.client, gh_counters_kind(), name);
    if (gh_gate_enter(gate, &lane->op, object)) gh_op_send(&lane->op, 0);
}

/* Gives lanes to shards that are due, in turn. */
void gh_counters_serve(gh_counters* counters)
{
    uint32_t i = 0;
    for (;;)
    {
        uint64_t ready = counters->due & counters->dirty & ~counters->busy;
        while (i < GH_COUNTERS_LANES && counters->lanes[i].first != GH_COUNTERS_NONE) i++;
        if (ready == 0 || i == GH_COUNTERS_LANES || counters->ended != GH_PENDING) return;
        while ((ready >> counters->cursor & 1) == 0) counters->cursor = (counters->cursor + 1) % GH_COUNTERS_SHARDS;
        counters_lane_freeze(&counters->lanes[i], counters->cursor);
        counters_lane_send(&counters->lanes[i]);
        counters->cursor = (counters->cursor + 1) % GH_COUNTERS_SHARDS;
    }
}

/* ---- the request --------------------------------------------------------------------------------------- */

void gh_counters_encode_precisions(gh_request* request, const gh_counters* counters)
{
    uint32_t i;
    gh_request_number(request, counters->config.precision_count);
    for (i = 0; i < counters->config.precision_count; i++)
    {
        gh_request_number(request, counters->config.precisions[i].seconds);
        gh_request_number(request, counters->config.precisions[i].samples);
    }
}

void gh_counters_encode_keys(gh_request* request, const gh_counters* counters, uint32_t shard, gh_str encoded_name)
{
    gh_str kind = gh_counters_kind();
    uint32_t i;
    gh_request_shard_key(request, counters->control.client, kind, shard, gh_str_literal("o"), encoded_name);
    for (i = 0; i < counters->config.precision_count; i++)
    {
        gh_str part = gh_str_make(counters->parts[i].text, counters->parts[i].size);
        gh_request_shard_key(request, counters->control.client, kind, shard, part, encoded_name);
    }
}

static void counters_lane_encode_delta(gh_request* request, int64_t delta)
{
    char text[1 + GH_DECIMAL_SIZE_MAX];
    char* end = text;
    if (delta < 0) *end++ = '-';
    end = gh_decimal_encode(delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta, end);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

/* How long ago it was, in the middle between the first add and the last; or "@<us>". */
static void counters_lane_encode_time(const gh_counters_lane* lane, gh_request* request)
{
    uint32_t at_s = lane->counters->slots[lane->first].at_s;
    uint64_t middle_us = lane->first_us + (lane->last_us - lane->first_us) / 2;
    char text[1 + GH_DECIMAL_SIZE_MAX] = "@";
    char* end;
    if (at_s == 0)
    {
        gh_request_number(request, gh_client_now(lane->op.client) - middle_us);
        return;
    }
    end = gh_decimal_encode((uint64_t)at_s * 1000000, text + 1);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

static void counters_lane_encode(gh_op* op, gh_request* request)
{
    const gh_counters_lane* lane = counters_lane_of(op);
    const gh_counters* self = lane->counters;
    const gh_str none = gh_str_make(NULL, 0);
    uint32_t precisions = self->config.precision_count;
    char client[GH_HEX_SIZE];
    uint32_t i;
    gh_request_op_script(request, op, lane->count * (1 + precisions), 2 * precisions + lane->count);
    gh_request_shard_key(request, op->client, gh_counters_kind(), lane->shard, gh_str_literal("w"), none);
    if (gh_request_is_route(request)) return;
    gh_request_shard_key(request, op->client, gh_counters_kind(), lane->shard, gh_str_literal("k"), none);
    for (i = lane->first; i != GH_COUNTERS_NONE; i = self->slots[i].next_frozen)
    {
        char name[GH_COUNTERS_NAME_SIZE_MAX];
        char* end = gh_name_encode(gh_str_make(self->slots[i].name, self->slots[i].name_size), name);
        gh_counters_encode_keys(request, self, lane->shard, gh_str_make(name, (size_t)(end - name)));
    }
    gh_hex_encode(gh_client_id(op->client), client);
    gh_request_str(request, gh_str_make(client, sizeof client));
    gh_request_number(request, op->sequence);
    counters_lane_encode_time(lane, request);
    gh_request_number(request, (self->config.fleet_max + GH_COUNTERS_SHARDS - 1) / GH_COUNTERS_SHARDS);
    gh_request_number(request, gh_op_not_after(op));
    gh_request_number(request, gh_op_generation(op));
    gh_request_number(request, lane->count);
    gh_counters_encode_precisions(request, self);
    for (i = lane->first; i != GH_COUNTERS_NONE; i = self->slots[i].next_frozen)
        counters_lane_encode_delta(request, self->slots[i].frozen);
}

/* "-" for all, or a letter for each; anything else says nothing. */
static void counters_lane_take_letters(gh_counters_lane* lane, gh_str letters)
{
    if (gh_str_equal(letters, gh_str_literal("-"))) counters_lane_end(lane, NULL, COUNTERS_COUNTED);
    else if (letters.size == lane->count) counters_lane_end(lane, letters.bytes, COUNTERS_COUNTED);
    else counters_lane_end(lane, NULL, COUNTERS_UNKNOWN);
}

static void counters_lane_answer(gh_counters_lane* lane, const gh_event* event)
{
    gh_counters* self = lane->counters;
    const gh_reply* reply = event->reply;
    int64_t code = gh_reply_integer(reply, GH_COUNTERS_FLUSH_CODE);
    if (code == GH_COUNTERS_FLUSH_STALE) /* it came too late; now we know the store's time better */
    {
        gh_op_send(&lane->op, lane->op.flags & GH_OP_MAYBE);
        return;
    }
    self->stats.batches++;
    if (code == GH_COUNTERS_FLUSH_TAKEN)
        counters_lane_take_letters(lane, gh_reply_text(reply, GH_COUNTERS_FLUSH_ANSWERS));
    else /* the row of batches does not let it be old */ counters_lane_end(lane, NULL, COUNTERS_UNKNOWN);
}

static void counters_lane_fail(gh_counters_lane* lane, gh_status status)
{
    if (status == GH_UNKNOWN)
    {
        counters_lane_end(lane, NULL, COUNTERS_UNKNOWN);
        return;
    }
    lane->counters->stats.last_refusal = status;
    counters_lane_end(lane, NULL, COUNTERS_REFUSED);
}

static void counters_lane_step(gh_op* op, const gh_event* event)
{
    gh_counters_lane* lane = counters_lane_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: counters_lane_answer(lane, event); break;
    case GH_EVENT_FAILED: counters_lane_fail(lane, event->status); break;
    case GH_EVENT_TIMER: counters_lane_end(lane, NULL, gh_op_maybe_done(op) ? COUNTERS_UNKNOWN : COUNTERS_BACK); break;
    case GH_EVENT_HINT: /* the batch of another gh_counters of this client is settled */
        if (lane->first == GH_COUNTERS_NONE || gh_op_is_sending(op) || !gh_gate_is_open(&lane->gate)) break;
        gh_op_send(op, 0);
        break;
    case GH_EVENT_CLOSE: /* the control op is told as well, and ends this one */
    case GH_EVENT_CANCEL:
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static gh_op* counters_lane_owner(const gh_op* op)
{
    return &((const gh_counters_lane*)(const void*)op)->counters->control;
}

const gh_op_kind gh_counters_lane_kind = {.name = "counters",
                                          .owner = counters_lane_owner,
                                          .step = counters_lane_step,
                                          .encode = counters_lane_encode,
                                          .text = &gh_counters_flush_lua,
                                          .effect = GH_OP_CHANGES};

/* ---- the round of the shards --------------------------------------------------------------------------- */

/* The next shards are due, as many as the time since the last visit is good for. */
void gh_counters_visit(gh_counters* self)
{
    uint64_t pace_us = gh_counters_pace_us(self);
    uint64_t count = (gh_client_now(self->control.client) - self->visit_us) / pace_us;
    self->visit_us += count * pace_us;
    if (count > GH_COUNTERS_SHARDS) count = GH_COUNTERS_SHARDS;
    for (; count > 0; count--)
    {
        self->due |= self->dirty & 1ull << self->visit;
        self->visit = (self->visit + 1) % GH_COUNTERS_SHARDS;
    }
    gh_counters_serve(self);
    self->armed = false;
    if (self->dirty == 0) return;
    self->armed = true;
    gh_op_timer_after(&self->control, pace_us);
}
