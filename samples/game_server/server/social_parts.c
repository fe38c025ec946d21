/* social_parts.c -- how a player is answered. */

#include "server/social_parts.h"

void social_tell(social* s, const social_player* p, const message* m)
{
    if (p->here) network_send(s->network, p->slot, m);
}

void social_sorry(social* s, const social_player* p, uint32_t number, sorry_reason reason, const char* text)
{
    social_tally_add(s, TALLY_SORRY, 1);
    social_tell(s, p, &(message){.type = MESSAGE_SORRY, .number = number, .values = {reason}, .text = gh_str_of(text)});
}

static sorry_reason reason_of(gh_status status)
{
    if (status == GH_UNKNOWN) return SORRY_UNSURE;
    if (status == GH_NO_ROOM || status == GH_FULL) return SORRY_BUSY;
    if (status == GH_GONE || status == GH_NOT_MEMBER) return SORRY_NO_SUCH;
    return gh_status_is_invalid(status) ? SORRY_NONSENSE : SORRY_STORE;
}

void social_sorry_status(social* s, const social_player* p, uint32_t number, gh_status status)
{
    social_sorry(s, p, number, reason_of(status), gh_status_text(status));
}

void social_tell_names(social* s, const social_player* p, uint32_t number, const gh_str* names, uint32_t count)
{
    char lines[NAMES_MAX * (NAME_SIZE + 1)];
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
    {
        memcpy(lines + size, names[i].bytes, names[i].size);
        size += names[i].size;
        if (i + 1 < count) lines[size++] = '\n';
    }
    social_tally_add(s, TALLY_NAMES, 1);
    social_tell(
        s, p, &(message){.type = MESSAGE_NAMES, .number = number, .values = {count}, .text = gh_str_make(lines, size)});
}

int64_t social_player_of(gh_str name)
{
    uint32_t number = 0;
    for (size_t i = 0; i < name.size; i++)
    {
        bool digit = name.bytes[i] >= '0' && name.bytes[i] <= '9';
        number = digit ? number * 10 + (uint32_t)(name.bytes[i] - '0') : 0;
    }
    char own[PLAYER_NAME_SIZE];
    return number < PLAYERS_MAX && gh_str_equal(player_name(number, own), name) ? (int64_t)number : -1;
}

gh_mailbox mailbox_of(const social* s, gh_str player)
{
    gh_mailbox mailbox;
    gh_mailbox_config config = gh_mailbox_config_default();
    config.timeout_us = ANSWER_US;
    gh_mailbox_init(&mailbox, s->client, player, &config); /* what is wrong with it, a begin says */
    return mailbox;
}

gh_chat chat_within(const social* s, const talk* t, uint64_t timeout_us)
{
    gh_chat chat;
    gh_chat_config config = gh_chat_config_default();
    config.timeout_us = timeout_us;
    config.members_max = GH_CHAT_MEMBERS_MAX;
    gh_chat_init(&chat, s->client, t->name, &config); /* what is wrong with it, a begin says */
    return chat;
}
