/* chat_commit.c -- notes what members have handled, without reading: one request, which may say so of many. */

#include "chat_read.h"
#include "client/object.h"
#include "wire/name.h"

static gh_chat_commit* chat_commit_of(gh_op* op)
{
    return (gh_chat_commit*)(void*)op;
}

static void chat_commit_encode(gh_op* op, gh_request* request)
{
    const gh_chat_commit* commit = chat_commit_of(op);
    gh_chat_question question;
    uint32_t i;
    memset(&question, 0, sizeof question);
    question.chat = gh_name_str(&commit->chat);
    question.epoch = commit->epoch;
    question.pairs = commit->count;
    gh_chat_encode_read(op, request, &question);
    for (i = 0; i < commit->count; i++)
    {
        gh_request_str(request, commit->members[i].name);
        gh_request_number(request, commit->members[i].sending);
    }
}

static gh_status chat_commit_answer(gh_op* op, const gh_event* event)
{
    const gh_chat_commit* commit = chat_commit_of(op);
    const gh_reply* value = gh_reply_at(event->reply, GH_CHAT_READ_SEEN);
    uint32_t i;
    gh_chat_figures figures;
    int64_t code = gh_reply_integer(event->reply, GH_CHAT_READ_CODE);
    if (code == GH_CHAT_READ_GONE) return gh_op_refused(op, GH_GONE);
    if (!gh_chat_read_figures(event->reply, &figures)) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (i = 0; i < commit->count; i++, value = value->next)
    {
        if (!gh_chat_is_seen(value, figures.last_id)) return gh_op_outcome(op, GH_REASON_UNUSABLE);
        commit->members[i].status = value->integer < 0 ? GH_NOT_MEMBER : GH_OK;
        commit->members[i].seen = value->integer < 0 ? 0 : (uint64_t)value->integer;
    }
    return code == GH_CHAT_READ_THERE ? GH_OK : GH_RESTARTED; /* no copy of this will ever find what is not there */
}

static const gh_op_kind chat_commit_kind = {.name = "chat",
                                            .borrows = true,
                                            .step = gh_call_step,
                                            .encode = chat_commit_encode,
                                            .script = gh_chat_read_script,
                                            .effect = GH_OP_CHANGES,
                                            .trees = gh_tree_read,
                                            .answer = chat_commit_answer};

static gh_status check_chat_commit(uint64_t epoch, const gh_chat_member* members, size_t count)
{
    size_t i;
    if (members == NULL || count == 0 || count > GH_CHAT_COMMIT_MAX) return GH_INVALID_MEMBERS;
    if (epoch == 0 || epoch >= GH_CHAT_ID_MAX) return GH_INVALID_EPOCH;
    for (i = 0; i < count; i++)
    {
        if (!gh_name_is_valid(members[i].name)) return GH_INVALID_MEMBERS;
        if (members[i].handled == 0 || members[i].handled >= GH_CHAT_ID_MAX) return GH_INVALID_ID;
    }
    return GH_OK;
}

static gh_status chat_commit_try(gh_chat_commit* op, const gh_chat* chat, uint64_t epoch, gh_chat_member* members,
                                 size_t count)
{
    size_t i;
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)chat);
    if (status != GH_OK) return status;
    status = check_chat_commit(epoch, members, count);
    if (status != GH_OK) return status;
    for (i = 0; i < count; i++) members[i].sending = members[i].handled;
    op->chat = chat->object.name;
    op->members = members;
    op->epoch = epoch;
    op->count = (uint32_t)count;
    gh_call_begin(&op->op, chat->object.client, &chat_commit_kind, chat->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_chat_commit_begin(gh_chat_commit* op, const gh_chat* chat, uint64_t epoch, gh_chat_member* members,
                               size_t count)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)chat, chat_commit_try(op, chat, epoch, members, count));
}
