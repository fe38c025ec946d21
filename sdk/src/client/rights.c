/* rights.c -- what the store's user may call from inside scripts, so that no script is stopped in the middle.

   A server refuses a command of a script when the script comes to it; what was written before stays. So the hand-shake
   asks for all commands at once, with a script that writes nothing, and an op whose script needs more than the user may
   is refused before anything is sent. A caller's script is the caller's affair, but for what of ours stands around it.
   When a script is stopped all the same, because a right was taken away while the link was up, the question is asked
   again before the next script goes. */

#include "base/texts.h"
#include "client/encoded.h"
#include "client/link.h"
#include "client/outcome.h"
#include "client/state.h"

#define RIGHTS_NAMES_ROOM 256u
#define RIGHTS_LOOK_US    100000ull /* a lack of rights is looked at again, at most so often */

enum
{
    RIGHTS_COUNT = 0
#define RIGHTS_ONE(name) +1
    GH_COMMAND_LIST(RIGHTS_ONE)
#undef RIGHTS_ONE
};

static const char rights_names[] =
#define RIGHTS_NAME(name) #name "\0"
    GH_COMMAND_LIST(RIGHTS_NAME)
#undef RIGHTS_NAME
    ;

void gh_rights_doubt(gh_node* node)
{
    node->rights_known = false;
    node->rights_asked = false;
}

void gh_rights_encode(gh_node* node, gh_request* request)
{
    gh_client* client = node->client;
    const gh_script* script = &client->scripts[GH_SCRIPT_rights];
    const char* first = request->at;
    const char* name = rights_names;
    uint32_t i;
    gh_request_script(request, script, 0, RIGHTS_COUNT);
    gh_request_node_epoch_key(request, node);
    for (i = 0; i < RIGHTS_COUNT; i++, name = gh_texts_next(name)) gh_request_str(request, gh_str_of(name));
    GH_INVARIANT(client, gh_encoded_as_announced(script, request, first));
}

/* Who cannot be asked is taken to allow everything: then a script finds out. */
void gh_rights_take(gh_node* node, const gh_reply* reply)
{
    uint32_t i;
    node->rights_known = true;
    node->rights_us = node->client->now_us;
    node->rights_missing = 0;
    if (reply->type != GH_REPLY_STRING || reply->text.size != RIGHTS_COUNT) return;
    for (i = 0; i < RIGHTS_COUNT; i++)
        if (reply->text.bytes[i] == '0') node->rights_missing |= 1ull << i;
}

/* " HSET ZADD" */
static gh_str rights_list(uint64_t missing, char out[RIGHTS_NAMES_ROOM])
{
    const char* name = rights_names;
    size_t size = 0;
    uint32_t i;
    for (i = 0; i < RIGHTS_COUNT; i++, name = gh_texts_next(name))
    {
        size_t name_size = strlen(name);
        if ((missing >> i & 1) == 0 || size + 1 + name_size > RIGHTS_NAMES_ROOM) continue;
        out[size++] = ' ';
        memcpy(out + size, name, name_size);
        size += name_size;
    }
    return gh_str_make(out, size);
}

/* Asks anew while the link is up: one question, and the ops of our scripts wait for its answer. It brings its script,
   as the server may have forgotten that since the hand-shake, and an error would be no answer. */
static gh_status rights_ask(gh_node* node)
{
    gh_script* script = &node->client->scripts[GH_SCRIPT_rights];
    gh_request request;
    node->held_back = true;
    if (node->rights_asked || !gh_slots_have_room_for_two(node)) return GH_FULL;
    if (!gh_script_encode_load(node, script, GH_SLOT_LOAD, NULL)) return GH_FULL;
    request = gh_link_request(&node->link);
    gh_rights_encode(node, &request);
    if (!gh_link_commit(&node->link, &request)) return GH_FULL;
    GH_INVARIANT(node->client, node->link.state == GH_LINK_READY);
    gh_slots_add(node, GH_SLOT_RIGHTS, NULL, NULL);
    node->rights_asked = true;
    return GH_FULL;
}

gh_status gh_rights_check(gh_node* node, gh_op* op, const gh_script* script)
{
    char names[RIGHTS_NAMES_ROOM];
    uint64_t needed = gh_script_commands(script);
    uint64_t missing = needed & node->rights_missing;
    if (needed == 0) return GH_OK;
    if (!node->rights_known) return rights_ask(node);
    if (missing == 0) return GH_OK;
    if (node->client->now_us - node->rights_us >= RIGHTS_LOOK_US)
    {
        gh_rights_doubt(node);
        return rights_ask(node);
    }
    gh_log_op(op, GH_LOG_REFUSED_OP, GH_LOG_ERROR,
              "refused, the user lacks rights to call:", rights_list(missing, names));
    return GH_REFUSED;
}
