// server.cpp -- two players of a server who meet, write each other, and leave in the midst of it: chat and contacts on
// guildhall.hpp.
//
//     server unix:/tmp/redis.sock

#include "guildhall/guildhall.hpp"

#include <cstdio>
#include <memory>
#include <string>

using namespace std::chrono_literals;

enum tag { SAID = 1, JOINED, TOUCHED };

struct player
{
    explicit player(const std::string& called) : name(called) {}
    std::string name;
    gh::contacts<> friends;
    gh::chat_player ears;
    gh::chat_change join;
    gh::chat_say<> say;
    gh::contacts_change touch;
};

static gh::client_in<> client;
static gh::chat_feed<> feed;

static std::unique_ptr<player> enter(const char* name)
{
    auto made = std::make_unique<player>(name);
    made->join.tell(JOINED, made.get());
    made->say.tell(SAID, made.get());
    made->touch.tell(TOUCHED, made.get());
    made->join.begin(gh_chat_join_begin, client, "raid 7", name, nullptr);
    feed.add(made->ears, name);
    return made;
}

static int serve(const char* address)
{
    gh::client_config config;
    config.address = gh::str(address);
    if (client.init(config) != GH_OK || feed.begin(client) != GH_OK) return 1;

    const gh_str nobody[] = {gh::str("the keeper")};
    gh::chat_change open;
    open.begin(gh_chat_create_begin, client, "raid 7", nobody, 1, nullptr, nullptr);
    while (open.busy()) client.tick(500us);
    std::unique_ptr<player> jason = enter("jason"), jeff = enter("jeff");
    for (bool refused = false, heard = false; !refused || !heard;) // your frame loop
    {
        client.tick(500us);
        for (gh::event e : client.events())
        {
            player& who = e.of<player>();
            std::printf("%s: %u %s\n", who.name.c_str(), e.tag, gh_status_name(e.status));
            if (e.tag == JOINED) who.say.begin(client, "raid 7", who.name, std::string("hello from ") + who.name);
            if (e.tag == SAID) who.touch.begin(gh_contacts_touch_begin, client, who.name, "", nullptr); // nobody
            if (e.tag == TOUCHED && &who == jeff.get()) refused = true;
        }
        for (gh::chat_line line : feed.lines())
        {
            std::printf("%s hears %.*s\n", std::string(line.to()).c_str(), GH_STR_ARG(line.message.body));
            heard = heard || line.from() != line.to();
        }
        if (heard && jason != nullptr) jason->say.begin(client, "raid 7", "jason", "bye"), jason.reset();
    }
    return 0;
}

int main(int argc, char** argv)
{
    return serve(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
}
