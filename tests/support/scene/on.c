/* on.c -- objects for a single begin. */

#include "support/scene/on.h"

gh_semaphore semaphore_made(gh_client* client, gh_str name, uint32_t limit)
{
    gh_semaphore made;
    gh_semaphore_config config = gh_semaphore_config_default();
    config.limit = limit;
    (void)gh_semaphore_init(&made, client, name, &config);
    return made;
}

gh_semaphore semaphore_within(gh_client* client, gh_str name, uint64_t timeout_us)
{
    gh_semaphore made;
    gh_semaphore_config config = gh_semaphore_config_default();
    config.timeout_us = timeout_us;
    (void)gh_semaphore_init(&made, client, name, &config);
    return made;
}

gh_mailbox mailbox_made(gh_client* client, gh_str name, const gh_mailbox_config* config)
{
    gh_mailbox made;
    (void)gh_mailbox_init(&made, client, name, config);
    return made;
}

gh_mailbox mailbox_within(gh_client* client, gh_str name, uint64_t timeout_us)
{
    gh_mailbox_config config = gh_mailbox_config_default();
    config.timeout_us = timeout_us;
    return mailbox_made(client, name, &config);
}

gh_chat chat_made(gh_client* client, gh_str name, const gh_chat_config* config)
{
    gh_chat made;
    (void)gh_chat_init(&made, client, name, config);
    return made;
}

gh_chat chat_within(gh_client* client, gh_str name, uint64_t timeout_us)
{
    gh_chat_config config = gh_chat_config_default();
    config.timeout_us = timeout_us;
    return chat_made(client, name, &config);
}

gh_chat_list_config chat_list_within(uint64_t timeout_us)
{
    gh_chat_list_config config = gh_chat_list_config_default();
    config.timeout_us = timeout_us;
    return config;
}

void bad_must_be_told(game* owner, const gh_op* op, gh_status expected)
{
    bool knows_a_client = expected != GH_INVALID_OBJECT && expected != GH_INVALID_CLIENT;
    assert_true(gh_status_is_invalid(expected));
    assert_status(gh_op_poll(op), expected);
    assert_false(gh_op_is_busy(op));
    game_tick(owner);
    assert_ptr_equal(gh_client_next(owner->client), knows_a_client ? op : NULL);
    assert_null(gh_client_next(owner->client));
}
