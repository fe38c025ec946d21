// server.cpp -- two players of a server who write each other, and leave in the midst of it: chat and contacts on
// guildhall.hpp.
//
//     server unix:/tmp/redis.sock

#include "guildhall/guildhall.hpp"

#include <cstdio>
#include <memory>
#include <string>

using namespace std::chrono_literals;

enum tag { SAID = 1, MET };

static gh::client_in<> client;
static gh::chat_feed<> feed;

struct player // dies whenever it wants to, with what is busy in it
{
    std::string name;
    gh::chat_player ears;
    gh::chat_say<> say;
    gh::contacts<> friends;
    gh::contacts_change meet;
    explicit player(const char* called) : name(called), friends(client, called)
    {
        feed.add(ears, name);
        meet.tell(MET, this);
        say.tell(SAID, this);
        say.begin(gh::chat(client, "raid " + std::to_string(7)), name, "hello from " + name); // all of it is copied
    }
};

int main(int argc, char** argv)
{
    gh::client_config config;
    config.address = gh::str(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    if (client.init(config) != GH_OK || feed.begin(client) != GH_OK) return 1;
    const gh_str both[] = {gh::str("jason"), gh::str("jeff")};
    const gh::chat raid(client, "raid 7");
    gh::chat_change open;
    open.begin(gh_chat_create_begin, raid, both, 2, nullptr);
    while (open.busy()) client.tick(500us);
    auto jason = std::make_unique<player>("jason"), jeff = std::make_unique<player>("jeff");
    for (bool over = false; !over;) // your frame loop
    {
        client.tick(500us);
        for (gh::chat_line line : feed.lines())
        {
            std::printf("%s hears %.*s\n", std::string(line.to()).c_str(), GH_STR_ARG(line.message.body));
            if (line.to() == "jeff" && line.from() == "jason")
                jeff->meet.begin(gh_contacts_touch_begin, jeff->friends, line.from());
        }
        for (gh::event e : client.events())
        {
            std::printf("%s: %u %s\n", e.of<player>().name.c_str(), e.tag, gh_status_name(e.status));
            if (e.user == jason.get()) jason->say.begin(raid, "jason", "bye"), jason.reset(); // still busy
            if (e.tag == MET) jeff->meet.begin(gh_contacts_touch_begin, jeff->friends, ""); // nobody: refused
            over = over || e.status == GH_INVALID_CONTACTS; // which comes here as all that happens
        }
    }
}
