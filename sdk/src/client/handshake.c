/* handshake.c -- what is said on a new command link before any op's request.

       AUTH, SELECT, CLIENT SETNAME, INFO x 5, SCRIPT EXISTS  ->  SCRIPT LOAD x n, epoch, rights, PUBLISH  ->  READY

   In two goes: which server it is must be known before the epoch is asked for, and which scripts it has before they are
   loaded. Loaded are those that this client has used before and that the server lacks, and those with which held leases
   are asked for, so that a doubt is settled by the first round trip; any other is loaded when an op first needs it. The
   first time of all, the epoch and the rights need their digests, and SCRIPT EXISTS has nothing to ask; another node
   may tell of the digests meanwhile, but not who this one is. The slots remember which step each reply belongs to. */

#include "client/encoded.h"
#include "client/link.h"
#include "client/state.h"
#include "client/topology.h"
#include "scripts/client_scripts.h"
#include "wire/name.h"
#include "wire/reply_class.h"

enum
{
    STEP_AUTH = 0,
    STEP_SELECT,
    STEP_NAME,
    STEP_INFO_SERVER,
    STEP_INFO_MEMORY,
    STEP_INFO_PERSISTENCE,
    STEP_INFO_REPLICATION,
    STEP_INFO_CLUSTER,
    STEP_TIME, /* where there are many servers, of which one may have no epoch to tell */
    STEP_EXISTS,
    STEP_SCRIPTS, /* one a script */
    STEP_EPOCH = STEP_SCRIPTS + GH_SCRIPT_COUNT,
    STEP_RIGHTS,
    STEP_WAIT,     /* where replicas are waited for */
    STEP_SPUBLISH, /* where hints go over the slots of a Cluster */
    STEP_PUBLISH,
    STEP_END
};

#define KEY_LAYOUT          2u  /* the number of the layout of all keys that this version writes: see KEYS.md */
#define EXISTS_COUNT_MAX    60u /* so that the smallest reader can take the answer                            */
#define SERVER_PART_SIZE    16u
#define STORE_TIME_MAX_S    9007199253            /* what scripts can count in us */
#define GENERATION_AHEAD_US UINT64_C(86400000000) /* of the store's time, as scripts bear it */
#define GENERATION_OF_LINK  (UINT64_C(1) << 63)   /* no store says one of these              */

/* Where nothing can be compared, what is held there may as well be forgotten: its generation is that of no other link,
   and it has no age. */
static void know_epoch(gh_node* node, gh_epoch* epoch)
{
    const gh_client* client = node->client;
    node->epoch = epoch;
    if (epoch == NULL) node->store_generation = GENERATION_OF_LINK | client->now_us;
    if (epoch == NULL) node->store_birth_us = 0;
    if ((epoch == NULL || epoch->birth_us == 0) && client->leases[0].count + client->leases[1].count > 0)
        gh_doubt_begin(node);
}

void gh_handshake_begin(gh_node* node)
{
    node->step = 0;
    node->warnings_found = 0;
    node->scripts = 0;
    node->exists_asked = 0;
    node->info_awaited = false;
    node->clustered = node->client->many_servers; /* else INFO says it, if the user may ask */
    node->server_size = 0;
    node->phantom = node->client->many_servers && node->client->config.wake_sharded ? '=' : '-';
    if (node->client->many) know_epoch(node, node->client->config.topology->epoch(node, &node->epoch_tag));
    else node->epoch = &node->own_epoch;
    gh_rights_doubt(node);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void encode_words(gh_request* request, gh_str a, gh_str b, gh_str c)
{
    gh_request_array(request, c.bytes == NULL ? 2 : 3);
    gh_request_str(request, a);
    gh_request_str(request, b);
    if (c.bytes != NULL) gh_request_str(request, c);
}

/* In the order of the steps. */
static void encode_info(gh_node* node, gh_request* request, uint32_t step)
{
    static const char* const sections[] = {"server", "memory", "persistence", "replication", "cluster"};
    encode_words(request, gh_str_literal("INFO"), gh_str_of(sections[step - STEP_INFO_SERVER]), gh_str_make(NULL, 0));
    if (step == STEP_INFO_REPLICATION) node->info_awaited = !request->full;
}

/* By its run and by its history. */
static bool server_is_known(const gh_node* node)
{
    return node->server_size == 2 * SERVER_PART_SIZE;
}

static void encode_epoch(gh_node* node, gh_request* request)
{
    gh_client* client = node->client;
    const gh_script* script = &client->scripts[GH_SCRIPT_epoch];
    const char* first = request->at;
    gh_request_script(request, script, 0, 2);
    gh_request_node_epoch_key(request, node);
    gh_request_number(request, KEY_LAYOUT);
    gh_request_str(request, server_is_known(node) ? gh_str_make(node->server, node->server_size) : gh_str_literal("-"));
    gh_request_number(request, client->store_generation_heard);
    gh_request_number(request, node->epoch->generation);
    GH_INVARIANT(client, gh_encoded_as_announced(script, request, first));
}

/* Those that may be on the server already. While it answers, others may become known by what another node says. */
static uint64_t exists_scripts(const gh_client* client, uint32_t* count)
{
    uint64_t asked = 0;
    uint32_t i;
    *count = 0;
    for (i = 0; i < GH_SCRIPT_COUNT && *count < EXISTS_COUNT_MAX; i++)
    {
        if (!client->scripts[i].known) continue;
        asked |= 1ull << i;
        ++*count;
    }
    return asked;
}

static bool encode_exists(gh_node* node, gh_request* request)
{
    const gh_client* client = node->client;
    uint32_t count;
    uint32_t i;
    const uint64_t asked = exists_scripts(client, &count);
    if (asked == 0) return false;
    gh_request_array(request, 2 + count);
    gh_request_str(request, gh_str_literal("SCRIPT"));
    gh_request_str(request, gh_str_literal("EXISTS"));
    for (i = 0; i < GH_SCRIPT_COUNT; i++)
        if ((asked >> i & 1u) != 0)
            gh_request_str(request, gh_str_make(client->scripts[i].digest, sizeof client->scripts[i].digest));
    node->exists_asked = request->full ? 0 : asked;
    return true;
}

static void encode_publish(const gh_client* client, gh_request* request)
{
    char channel[GH_CHANNEL_SIZE_MAX];
    encode_words(request, gh_str_literal("PUBLISH"), gh_wake_channel(client, channel), gh_str_literal("-"));
}

/* False: this step has nothing to say. */
static bool encode_step(gh_node* node, uint32_t step, gh_request* request)
{
    const gh_client* client = node->client;
    char number[GH_DECIMAL_SIZE_MAX];
    switch (step)
    {
    case STEP_AUTH: return node->link.secret_bytes > 0; /* the link has put it there */
    case STEP_SELECT:
        if (client->config.database == 0) return false;
        encode_words(request, gh_str_literal("SELECT"),
                     gh_str_make(number, (size_t)(gh_decimal_encode(client->config.database, number) - number)),
                     gh_str_make(NULL, 0));
        return true;
    case STEP_NAME:
        if (client->config.client_name.size == 0) return false;
        encode_words(request, gh_str_literal("CLIENT"), gh_str_literal("SETNAME"), client->config.client_name);
        return true;
    case STEP_INFO_SERVER:
    case STEP_INFO_MEMORY:
    case STEP_INFO_PERSISTENCE:
    case STEP_INFO_REPLICATION:
    case STEP_INFO_CLUSTER: encode_info(node, request, step); return true;
    case STEP_TIME:
        if (!client->many_servers) return false;
        gh_request_array(request, 1);
        gh_request_str(request, gh_str_literal("TIME"));
        return true;
    case STEP_EXISTS: return encode_exists(node, request);
    case STEP_EPOCH:
        if (node->epoch == NULL) return false;
        encode_epoch(node, request);
        return true;
    case STEP_RIGHTS:
        node->rights_known = node->epoch == NULL; /* the question needs a key that lies there */
        if (node->rights_known) return false;
        gh_rights_encode(node, request);
        return true;
    case STEP_WAIT:
        if (node->main == NULL) return false;
        encode_words(request, gh_str_literal("WAIT"), gh_str_literal("0"), gh_str_literal("1"));
        return true;
    case STEP_SPUBLISH: return node->phantom == '=' && client->beneath->probe(node, request);
    case STEP_PUBLISH: encode_publish(client, request); return true;
    default:
        GH_INVARIANT(client, false); /* the scripts' digests are asked for elsewhere */
        return false;
    }
}

/* False: no room now; the next tick goes on from here. */
static bool encode_script_step(gh_node* node, uint32_t step)
{
    gh_client* client = node->client;
    gh_script* script = &client->scripts[step - STEP_SCRIPTS];
    bool is_needed = script == &client->scripts[GH_SCRIPT_epoch] || script == &client->scripts[GH_SCRIPT_rights];
    if (script->known ? gh_script_is_loaded(node, script) : !is_needed && !script->used) return true;
    if (!gh_script_encode_load(node, script, GH_SLOT_HANDSHAKE, NULL)) return false;
    gh_slots_newest(node)->step = (uint16_t)step;
    return true;
}

static bool encode_plain_step(gh_node* node, uint32_t step)
{
    gh_request request = gh_link_request(&node->link);
    if (!gh_slots_have_room(node)) return false;
    if (!encode_step(node, step, &request)) return true;
    if (!gh_link_commit(&node->link, &request)) return false;
    gh_slots_add(node, GH_SLOT_HANDSHAKE, NULL, NULL)->step = (uint16_t)step;
    return true;
}

/* An answer must come before this step. */
static bool step_must_wait(const gh_node* node, uint32_t step)
{
    const gh_client* client = node->client;
    const bool knows_scripts = client->scripts[GH_SCRIPT_epoch].known && client->scripts[GH_SCRIPT_rights].known;
    if (step == STEP_SCRIPTS) return node->exists_asked != 0;
    return step == STEP_EPOCH && (node->info_awaited || !knows_scripts);
}

void gh_handshake_encode(gh_node* node)
{
    while (node->step < STEP_END && !step_must_wait(node, node->step))
    {
        bool is_script = node->step >= STEP_SCRIPTS && node->step < STEP_EPOCH;
        if (!(is_script ? encode_script_step(node, node->step) : encode_plain_step(node, node->step))) return;
        node->step++;
    }
}

bool gh_handshake_was_held_up(const gh_node* node)
{
    return node->link.state == GH_LINK_HANDSHAKE && node->sent_count == 0 && node->step < STEP_END &&
           !step_must_wait(node, node->step);
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

static const gh_handshake_verdict goes_on = {.why = NULL};

static gh_handshake_verdict given_up(gh_log_level level, const char* why)
{
    gh_handshake_verdict verdict = goes_on;
    verdict.level = level;
    verdict.why = why;
    return verdict;
}

/* ---- the sanity check -------------------------------------------------------------------------------------------- */

static void warn_once(gh_client* client, gh_warning warning, const char* text, gh_str detail)
{
    if ((client->warnings_logged & (uint32_t)warning) == 0) gh_log_str(client, GH_LOG_WARNING, text, detail);
    client->warnings_logged |= (uint32_t)warning;
}

void gh_client_warn(gh_client* client, gh_warning warning, const char* text, gh_str detail)
{
    client->stats.warnings |= (uint32_t)warning;
    warn_once(client, warning, text, detail);
}

void gh_node_warn(gh_node* node, gh_warning warning, const char* text, gh_str detail)
{
    node->warnings_found |= (uint32_t)warning;
    warn_once(node->client, warning, text, detail);
}

/* One line "name:value" of an INFO reply; empty if it is not there. */
static gh_str info_field(gh_str info, gh_str name)
{
    size_t at = 0;
    while (at < info.size)
    {
        const char* line = info.bytes + at;
        size_t left = info.size - at;
        const char* end = (const char*)memchr(line, '\n', left);
        size_t size = end == NULL ? left : (size_t)(end - line);
        if (size > name.size && memcmp(line, name.bytes, name.size) == 0 && line[name.size] == ':')
        {
            gh_str value = gh_str_make(line + name.size + 1, size - name.size - 1);
            while (value.size > 0 && value.bytes[value.size - 1] == '\r') value.size--;
            return value;
        }
        at += size + 1;
    }
    return gh_str_make(NULL, 0);
}

static bool info_says(gh_str info, const char* name, const char* value)
{
    return gh_str_equal(info_field(info, gh_str_of(name)), gh_str_of(value));
}

/* "7.0.15" as 70015; what is no number ends it. */
static uint32_t parse_version(gh_str text)
{
    uint32_t parts[3] = {0, 0, 0};
    uint32_t part = 0;
    size_t i;
    for (i = 0; i < text.size && part < 3; i++)
    {
        const uint32_t digit = (uint32_t)(unsigned char)text.bytes[i] - '0';
        if (text.bytes[i] == '.') part++;
        else if (digit > 9) break;
        else if (parts[part] < 1000) parts[part] = parts[part] * 10 + digit;
    }
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

/* Half of what the epoch knows a server by: its run, and then its history, which changes with its master. */
static void take_server_part(gh_node* node, gh_str id)
{
    size_t i;
    if (id.size < SERVER_PART_SIZE || node->server_size > SERVER_PART_SIZE) return;
    for (i = 0; i < SERVER_PART_SIZE; i++)
        if (id.bytes[i] <= ' ' || id.bytes[i] > '~') return;
    memcpy(node->server + node->server_size, id.bytes, SERVER_PART_SIZE);
    node->server_size += SERVER_PART_SIZE;
}

static gh_handshake_verdict take_info(gh_node* node, uint32_t step, gh_str info)
{
    gh_client* client = node->client;
    gh_str value;
    if (step == STEP_INFO_SERVER) take_server_part(node, info_field(info, gh_str_literal("run_id")));
    if (step == STEP_INFO_REPLICATION) take_server_part(node, info_field(info, gh_str_literal("master_replid")));
    if (step == STEP_INFO_SERVER)
    {
        value = info_field(info, gh_str_literal("redis_version"));
        client->stats.server_version = parse_version(value);
        if (client->stats.server_version < 60200)
            gh_node_warn(node, GH_WARNING_VERSION, "the server is older than 6.2: ", value);
    }
    if (step == STEP_INFO_MEMORY)
    {
        value = info_field(info, gh_str_literal("maxmemory_policy"));
        if (value.size > 0 && !gh_str_equal(value, gh_str_literal("noeviction")))
            gh_node_warn(node, GH_WARNING_EVICTION, "locks may be thrown away, set maxmemory-policy noeviction; it is ",
                         value);
    }
    if (step == STEP_INFO_PERSISTENCE && info_says(info, "aof_enabled", "0") && !info_says(info, "loading", "1"))
        gh_node_warn(node, GH_WARNING_NO_AOF, "a restart forgets what was acknowledged, set appendonly yes",
                     gh_str_make(NULL, 0));
    node->clustered = node->clustered || info_says(info, "cluster_enabled", "1");
    if (step == STEP_INFO_CLUSTER && node->clustered && !client->many_servers)
        gh_node_warn(node, GH_WARNING_CLUSTER, "a Cluster node: keys of other nodes are refused", gh_str_make(NULL, 0));
    if (step == STEP_INFO_REPLICATION && info_says(info, "role", "slave"))
    {
        gh_node_warn(node, GH_WARNING_REPLICA, "a replica; waiting for a master at this address", gh_str_make(NULL, 0));
        return given_up(GH_LOG_WARNING, "a replica takes no writes");
    }
    return goes_on;
}

/* ---- replies ----------------------------------------------------------------------------------------------------- */

static bool is_time(const gh_reply* value)
{
    return value != NULL && value->type == GH_REPLY_INTEGER && value->integer >= 0;
}

void gh_client_hear_generation(gh_client* client, uint64_t generation, uint64_t store_now_us)
{
    const bool can_be = generation <= store_now_us + GENERATION_AHEAD_US;
    if (can_be && generation > client->store_generation_heard) client->store_generation_heard = generation;
}

/* Requests say until when they may be carried out, so none may be sent before it is known: copies of a dead link would
   come whenever they like. */
static gh_handshake_verdict take_time(gh_node* node, const gh_reply* reply)
{
    int64_t seconds = 0;
    int64_t us = 0;
    const bool is_good = gh_reply_int(gh_reply_at(reply, 0), &seconds) && gh_reply_int(gh_reply_at(reply, 1), &us);
    if (!is_good || seconds < 0 || seconds > STORE_TIME_MAX_S || us < 0 || us > 999999)
    {
        node->client->stats.protocol_errors++;
        return given_up(GH_LOG_ERROR, "no time in the reply");
    }
    gh_node_note_store_time(node, (uint64_t)seconds * 1000000 + (uint64_t)us);
    return goes_on;
}

static void store_was_reset(gh_node* node)
{
    gh_client* client = node->client;
    client->stats.store_resets++;
    gh_log(client, GH_LOG_WARNING, "the store has lost its data");
    gh_op_sweep_begin(client, GH_EVENT_RESET, client->many_servers ? gh_node_server(node) : NULL);
    gh_op_sweep_on(client, true);
}

/* The newest of its data may be lost: a restart from the disk, or another master. */
static void store_is_doubted(gh_node* node)
{
    gh_log(node->client, GH_LOG_INFO, "another server, or restarted: held leases are asked for at once");
    gh_doubt_begin(node);
}

/* Of a server that cannot be told from another one, each new connection is a doubt. */
static gh_handshake_verdict take_epoch(gh_node* node, const gh_reply* reply)
{
    gh_client* client = node->client;
    const gh_reply* birth = gh_reply_at(reply, GH_EPOCH_BIRTH_US);
    const gh_reply* now = gh_reply_at(reply, GH_EPOCH_NOW_US);
    const gh_reply* generation = gh_reply_at(reply, GH_EPOCH_GENERATION);
    const gh_epoch before = *node->epoch;
    if (!is_time(birth) || !is_time(now) || !is_time(generation))
    {
        client->stats.protocol_errors++;
        return given_up(GH_LOG_ERROR, "no epoch in the reply");
    }
    gh_node_note_store_time(node, (uint64_t)now->integer);
    node->store_birth_us = (uint64_t)birth->integer;
    node->store_generation = (uint64_t)generation->integer;
    gh_client_hear_generation(client, node->store_generation, (uint64_t)now->integer);
    node->epoch->birth_us = node->store_birth_us;
    node->epoch->generation = node->store_generation;
    if (before.birth_us == 0) return goes_on;
    if (before.birth_us != node->store_birth_us) store_was_reset(node);
    else if (before.generation != node->store_generation || !server_is_known(node)) store_is_doubted(node);
    return goes_on;
}

/* The digests were asked for in this order. */
static void take_exists(gh_node* node, const gh_reply* reply)
{
    const gh_reply* there = reply->type == GH_REPLY_ARRAY ? reply->first : NULL;
    uint32_t i;
    for (i = 0; i < GH_SCRIPT_COUNT && there != NULL; i++)
    {
        if ((node->exists_asked >> i & 1u) == 0) continue;
        if (there->type == GH_REPLY_INTEGER && there->integer == 1)
            gh_script_note_loaded(node, &node->client->scripts[i]);
        there = there->next;
    }
    node->exists_asked = 0;
}

static gh_handshake_verdict take_digest(gh_node* node, gh_script* script, const gh_reply* reply)
{
    gh_script_note_digest(node, script, reply);
    if (script->known) return goes_on;
    node->client->stats.protocol_errors++;
    return given_up(GH_LOG_ERROR, "no digest in the reply");
}

/* Where there are many servers it says which. */
static void log_step(gh_node* node, gh_log_level level, const char* text, gh_str detail)
{
    const gh_str parts[] = {gh_str_of(text), node->link.target->text, gh_str_literal(": ")};
    gh_log_limited(node->client, GH_LOG_HANDSHAKE, level, parts, node->client->many_servers ? 3 : 1, detail);
}

static void handshake_done(gh_node* node)
{
    gh_client* client = node->client;
    GH_INVARIANT(client, node->store_offset_known); /* requests say until when they may be carried out */
    node->link.state = GH_LINK_READY;
    node->link.failures = 0;
    node->warnings = node->warnings_found;
    client->warnings_logged = gh_client_warnings(client); /* what is mended now and comes back is said again */
    node->link.look_us = 0;
    client->stats.links_ready++;
    log_step(node, GH_LOG_INFO, node->link.title, gh_str_literal("ready"));
}

/* An error where the link can do without the step's success: true. */
static bool take_harmless_error(gh_node* node, uint32_t step, gh_str error)
{
    if (step == STEP_NAME) return true;
    if (step == STEP_EXISTS)
    {
        node->exists_asked = 0; /* then all are loaded */
        return true;
    }
    if (step >= STEP_INFO_SERVER && step <= STEP_INFO_CLUSTER)
    {
        gh_node_warn(node, GH_WARNING_NO_INFO, "the server's settings cannot be seen: ", error);
        return true;
    }
    if (step == STEP_RIGHTS) return true; /* then scripts find out by themselves */
    if (step != STEP_PUBLISH) return false;
    gh_node_warn(node, GH_WARNING_NO_WAKE, "waiters ask by themselves, PUBLISH is refused: ", error);
    handshake_done(node);
    return true;
}

static bool is_of_a_key(gh_reply_class reply_class)
{
    return reply_class == GH_CLASS_CORRUPT || reply_class == GH_CLASS_LOCK_CORRUPT || reply_class == GH_CLASS_WRONGTYPE;
}

static bool is_passing(gh_reply_class reply_class)
{
    return reply_class == GH_CLASS_RETRY || reply_class == GH_CLASS_SLOT || reply_class == GH_CLASS_HEALTH ||
           reply_class == GH_CLASS_RECONNECT;
}

/* Rights are asked with the key of the epoch. */
static bool epoch_strays(gh_node* node, uint32_t step, gh_str error)
{
    const gh_client* client = node->client;
    if ((step != STEP_EPOCH && step != STEP_RIGHTS) || !client->many_servers) return false;
    if (!client->config.topology->strays(node, error)) return false;
    if (step == STEP_EPOCH) know_epoch(node, NULL);
    return true;
}

static gh_handshake_verdict take_error(gh_node* node, uint32_t step, gh_str error)
{
    gh_client* client = node->client;
    gh_handshake_verdict verdict;
    gh_reply_class reply_class = gh_reply_classify(error);
    bool passing = is_passing(reply_class) || (client->many_servers && reply_class == GH_CLASS_MOVED);
    if (reply_class == GH_CLASS_NOSCRIPT && (step == STEP_EPOCH || step == STEP_RIGHTS))
    {
        client->scripts[GH_SCRIPT_epoch].known = false; /* flushed in between: say it all again */
        client->scripts[GH_SCRIPT_rights].known = false;
        passing = true;
    }
    if (epoch_strays(node, step, error)) return goes_on;
    if (step == STEP_SPUBLISH)
    {
        client->beneath->refuses(node, error);
        return goes_on;
    }
    if (!passing && take_harmless_error(node, step, error)) return goes_on;
    if (!passing && step == STEP_WAIT)
        gh_node_warn(node, GH_WARNING_NO_REPLICAS, "replicas cannot be waited for, WAIT is refused: ", error);
    log_step(node, passing ? GH_LOG_INFO : GH_LOG_ERROR, "hand-shake: ", error);
    verdict = given_up(GH_LOG_WARNING, passing ? "the server is not ready yet" : "the hand-shake was refused");
    verdict.refused = !passing && reply_class != GH_CLASS_NOSCRIPT;
    verdict.reason = step == STEP_EPOCH && is_of_a_key(reply_class) ? GH_REASON_CORRUPT : GH_REASON_REFUSED;
    return verdict;
}

gh_handshake_verdict gh_handshake_reply(gh_node* node, uint32_t step, const gh_reply* reply)
{
    if (step == STEP_INFO_REPLICATION) node->info_awaited = false;
    if (step == STEP_RIGHTS) gh_rights_take(node, reply);
    if (reply->type == GH_REPLY_ERROR) return take_error(node, step, reply->text);
    if (step >= STEP_INFO_SERVER && step <= STEP_INFO_CLUSTER) return take_info(node, step, reply->text);
    if (step >= STEP_SCRIPTS && step < STEP_EPOCH)
        return take_digest(node, &node->client->scripts[step - STEP_SCRIPTS], reply);
    if (step == STEP_TIME) return take_time(node, reply);
    if (step == STEP_EPOCH) return take_epoch(node, reply);
    if (step == STEP_EXISTS) take_exists(node, reply);
    if (step == STEP_PUBLISH) handshake_done(node);
    return goes_on;
}
