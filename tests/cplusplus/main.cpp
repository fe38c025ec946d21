// The public API from C++: every header at once, the defaults, a client that is never connected. Linking is the test:
// a header that forgot extern "C" does not link.

#include "guildhall/guildhall.h"

#include <cstdio>

alignas(16) static unsigned char memory[1024 * 1024];

int main()
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_literal("unix:/nonexistent/guildhall.sock");
    if (gh_client_memory(&config) > sizeof memory) return 1;

    gh_client* client = nullptr;
    if (gh_client_init(memory, sizeof memory, &config, platform, &client) != GH_OK) return 2;

    gh_lock lock = {};
    gh_lock_config want = gh_lock_config_default();
    if (gh_lock_begin(&lock, client, gh_str_literal("castle gate"), &want) < GH_OK) return 3;
    gh_tick(client, platform->now_us(platform->context), 0);
    if (gh_op_poll(&lock.op) != GH_PENDING) return 4; // nobody is there to answer

    gh_client_shutdown(client);
    std::puts(gh_status_text(GH_OK));
    return 0;
}
