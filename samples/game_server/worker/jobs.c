/* jobs.c -- jobs as texts. */

#include "worker/jobs.h"

#include <inttypes.h>
#include <stdio.h>

#define LEASE_US       2000000u /* so long does a task wait after its worker was killed */
#define BACKOFF_MIN_US 100000u
#define BACKOFF_MAX_US 5000000u

enum
{
    /* A job of trade must not be given up, however long the store or the workers are away: its coins are
       real. */
    ATTEMPTS = GH_TASKS_ATTEMPTS_MAX
};

typedef struct job_form
{
    gh_str name;
    gh_str queue;
    uint32_t task_class; /* 0 comes first: a seller waits for the money, nobody waits for a signpost */
} job_form;

static const job_form forms[JOB_KINDS] = {
    [JOB_SOLD] = {GH_STR_INIT("sold"), GH_STR_INIT(JOBS_TRADE), 0},
    [JOB_END] = {GH_STR_INIT("end"), GH_STR_INIT(JOBS_TRADE), 1},
    [JOB_OPEN] = {GH_STR_INIT("open"), GH_STR_INIT(JOBS_TRADE), 2},
    [JOB_GUILD_MAIL] = {GH_STR_INIT("guild mail"), GH_STR_INIT(JOBS_MAIL), 0},
};

gh_str job_name(job_kind kind)
{
    return forms[kind].name;
}

gh_str job_queue(job_kind kind)
{
    return forms[kind].queue;
}

gh_status job_queue_init(gh_queue* queue, gh_client* client, gh_str name)
{
    gh_queue_config config = gh_queue_config_default();
    config.lease_us = LEASE_US;
    config.backoff_min_us = BACKOFF_MIN_US;
    config.backoff_max_us = BACKOFF_MAX_US;
    return gh_queue_init(queue, client, name, &config);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static bool is_word(gh_str text)
{
    return text.size > 0 && text.size <= MESSAGE_NAME_MAX && memchr(text.bytes, ' ', text.size) == NULL;
}

static bool makes_sense(const job* j)
{
    if (j->kind == JOB_GUILD_MAIL)
    {
        return is_word(j->guild) && is_word(j->from) && j->words.size <= MESSAGE_TEXT_MAX;
    }
    return j->seller < PLAYERS_MAX && j->version > 0 && j->price > 0;
}

/* Their sizes without a NUL. */
static size_t write_id(const job* j, char out[JOB_ID_SIZE])
{
    if (j->kind == JOB_GUILD_MAIL) return 0;
    return (size_t)snprintf(out, JOB_ID_SIZE, "%s:%" PRIu32 ":%" PRId64, forms[j->kind].name.bytes, j->item,
                            j->version);
}

static size_t write_payload(const job* j, char out[JOB_PAYLOAD_SIZE])
{
    if (j->kind != JOB_GUILD_MAIL)
    {
        return (size_t)snprintf(out, JOB_PAYLOAD_SIZE, "%" PRIu32 " %" PRId64 " %" PRId64 " %" PRIu32, j->item,
                                j->version, j->price, j->seller);
    }
    int head = snprintf(out, JOB_PAYLOAD_SIZE, "%.*s %.*s ", (int)j->guild.size, j->guild.bytes, (int)j->from.size,
                        j->from.bytes);
    if (j->words.size > 0) memcpy(out + head, j->words.bytes, j->words.size); /* any bytes, NUL too */
    return (size_t)head + j->words.size;
}

void job_push_clear(job_push* push)
{
    push->count = 0;
    push->bytes_used = 0;
}

static gh_str keep(job_push* push, const char* bytes, size_t size)
{
    char* copy = push->bytes + push->bytes_used;
    memcpy(copy, bytes, size);
    push->bytes_used += (uint32_t)size;
    return gh_str_make(copy, size);
}

bool job_push_add(job_push* push, const job* j)
{
    if ((uint32_t)j->kind >= JOB_KINDS || !makes_sense(j)) return false;
    if (push->count > 0 && !gh_str_equal(push->queue, forms[j->kind].queue)) return false;

    char id[JOB_ID_SIZE];
    char payload[JOB_PAYLOAD_SIZE];
    size_t id_size = write_id(j, id);
    size_t payload_size = write_payload(j, payload);
    if (push->count == JOB_PUSH_MAX) return false;
    if (id_size + payload_size > JOB_PUSH_BYTES - push->bytes_used) return false;

    push->queue = forms[j->kind].queue;
    push->tasks[push->count++] = (gh_task_spec){.id = keep(push, id, id_size),
                                                .handler = forms[j->kind].name,
                                                .payload = keep(push, payload, payload_size),
                                                .delay_us = j->delay_us,
                                                .attempts_max = ATTEMPTS,
                                                .task_class = forms[j->kind].task_class};
    return true;
}

gh_status job_push_begin(job_push* push, gh_client* client)
{
    gh_queue queue;
    (void)job_queue_init(&queue, client, push->queue); /* the begin says what is wrong with it */
    return gh_tasks_push_begin(&push->op, &queue, push->tasks, push->count);
}

gh_status job_push_poll(const job_push* push)
{
    return gh_op_poll(&push->op.op);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

/* Takes what is before the next space off the front of text, and the space. */
static gh_str take_word(gh_str* text)
{
    const char* space = text->size == 0 ? NULL : memchr(text->bytes, ' ', text->size);
    size_t size = space == NULL ? text->size : (size_t)(space - text->bytes);
    gh_str word = gh_str_make(text->bytes, size);
    size += space != NULL;
    *text = gh_str_make(text->bytes + size, text->size - size);
    return word;
}

static bool take_number(gh_str* text, int64_t most, int64_t* number)
{
    gh_str word = take_word(text);
    *number = 0;
    if (word.size == 0 || word.size > 18) return false;
    for (size_t i = 0; i < word.size; i++)
    {
        if (word.bytes[i] < '0' || word.bytes[i] > '9') return false;
        *number = *number * 10 + (word.bytes[i] - '0');
    }
    return *number <= most;
}

bool job_read(job* j, job_kind kind, gh_str payload)
{
    int64_t item = 0;
    int64_t seller = 0;
    *j = (job){.kind = kind};
    if (kind == JOB_GUILD_MAIL)
    {
        j->guild = take_word(&payload);
        j->from = take_word(&payload);
        j->words = payload;
        return makes_sense(j);
    }
    bool good = take_number(&payload, UINT32_MAX, &item) && take_number(&payload, INT64_MAX, &j->version);
    good = good && take_number(&payload, INT64_MAX, &j->price) && take_number(&payload, UINT32_MAX, &seller);
    j->item = (uint32_t)item;
    j->seller = (uint32_t)seller;
    return good && payload.size == 0 && makes_sense(j);
}
