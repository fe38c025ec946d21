// arena.cpp -- a match on guildhall.hpp: four players come, fight and go, and their server dies with some of them still
// at it. What they had is free for the next run.
//
//     g++ -std=c++17 -Isdk/include samples/arena.cpp build/bin/release/libguildhall.a -lhiredis -lxxhash -lz
//     ./a.out unix:/tmp/redis.sock        ./a.out 127.0.0.1:6379

#include "guildhall/guildhall.hpp"

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

enum tag { SEAT = 1, SWORD, WELCOME };

struct player // dies whenever it wants to: what is under way in it is let go, and its seat is free
{
    const char* name;
    gh::permit seat;
    gh::lock sword;
    gh::mailbox_push welcome;
    gh_post letter = GH_ZERO;
    explicit player(const char* called) : name(called) {}
};

static gh::client_in<> client;

static void seat_changed(player& who, gh_status status)
{
    std::printf("%s: seat %s\n", who.name, gh_status_name(status));
    if (status != GH_HELD) return;
    who.sword.tell(SWORD, &who);
    who.sword.begin(client, "the sword"); // one has it, the others wait for him to die
    who.letter.body = gh::str("welcome to the arena");
    who.welcome.tell(WELCOME, &who);
    who.welcome.begin(gh_mailbox_push_begin, gh::mailbox(client, who.name), &who.letter, 1);
}

int main(int argc, char** argv)
{
    gh::client_config config;
    config.address = gh::str(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    if (client.init(config) != GH_OK) return 1;

    std::vector<std::unique_ptr<player>> players; // an op stays where it is, so the vector holds pointers
    gh::semaphore_config seats;
    seats.limit = 3;
    const gh::semaphore arena(client, "arena 7", seats);
    for (const char* name : {"jason", "jeff", "jenny", "mia"})
    {
        players.push_back(std::make_unique<player>(name));
        players.back()->seat.tell(SEAT, players.back().get());
        players.back()->seat.begin(arena);
    }
    unsigned welcomed = 0;
    for (int frames = 600; frames > 0 && welcomed < 4; frames--) // your frame loop
    {
        client.tick(500us);
        for (gh::event e : client.events())
        {
            if (e.tag == SEAT) seat_changed(e.of<player>(), e.status);
            if (e.tag == SWORD) std::printf("%s: sword %s\n", e.of<player>().name, gh_status_name(e.status));
            if (e.tag == WELCOME && e.status == GH_OK) welcomed++;
        }
        if (welcomed == 3 && players.size() == 4) players.erase(players.begin()); // a seat is free: mia is next
        std::this_thread::sleep_for(16ms);                                        // the rest of your frame
    }
    return welcomed == 4 ? 0 : 1;
}
