// doors.cpp -- a lock for each door of a castle, as C has them, in a std::vector that grows: the next call says that a
// busy op was moved, before anything follows where it was.
//
//     doors unix:/tmp/redis.sock

#include "guildhall/guildhall.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// Where a game would write its report, and break into the debugger.
static bool report(void*, const char*, int, const char* what)
{
    std::printf("does not hold: %s\n", what);
    std::fflush(stdout);
    std::_Exit(0);
}

int main(int argc, char** argv)
{
    static gh::client_in<> client;
    gh::client_config config;
    config.address = gh::str(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    config.hooks.assertion = report;
    if (client.init(config) != GH_OK) return 1;

    std::vector<gh_lock> doors; // a std::vector<gh::lock> would not compile; a std::deque of them stays in place
    for (int i = 0; i < 100; i++)
    {
        doors.push_back(gh_lock GH_ZERO);
        for (const gh_lock& door : doors) std::printf("%s\n", gh_status_name(gh_op_poll(&door.op)));
        gh_lock_begin(&doors.back(), client, gh::str("door " + std::to_string(i)), nullptr);
    }
    return 1;
}
