/* nemesis_wire.c -- what befalls the links: bytes that are late, lost or in pieces, and links that are cut or refused.
 */

#include "storm/nemesis_kinds.h"
#include "storm/wire.h"

uint32_t nemesis_share_of(uint64_t x)
{
    return x % 4 == 0 ? 1000u : (uint32_t)(100 + x / 4 % 600);
}

bool nemesis_cut(const nemesis_fault* f)
{
    wire_do((wire_order){.what = WIRE_CUT, .share = nemesis_share_of(f->x), .abrupt = f->y % 2 == 0, .seed = f->z});
    return true;
}

/* The bytes of dead links: the client's side goes at once or by itself. */
static void hold_back(const nemesis_fault* f, uint64_t for_us, bool outlasts)
{
    wire_do((wire_order){.what = WIRE_HOLD,
                         .way = WIRE_REQUESTS,
                         .outlasts = outlasts,
                         .share = nemesis_share_of(f->y),
                         .seed = f->z,
                         .for_us = for_us,
                         .sever_us = f->x % 3 == 0 ? 0 : 15000 + f->x / 3 % 120000});
}

/* What the client said comes seconds later; or so soon that the time is not over until which it may be carried out. */
bool nemesis_late(const nemesis_fault* f)
{
    hold_back(f, f->z % 2 == 0 ? f->for_us : 150000 + f->z / 2 % 250000, false);
    return true;
}

/* It comes when the store may have forgotten what it remembered of it, minutes later, and whether the weather is over
   or not. */
bool nemesis_ancient(const nemesis_fault* f)
{
    hold_back(f, f->for_us, true);
    return true;
}

/* Requests arrive, answers do not. */
bool nemesis_mute(const nemesis_fault* f)
{
    uint64_t sever_us = f->x % 2 == 0 ? 0 : 10000 + f->x / 2 % 100000;
    wire_do((wire_order){.what = WIRE_SWALLOW,
                         .way = WIRE_REPLIES,
                         .share = nemesis_share_of(f->y),
                         .seed = f->z,
                         .for_us = f->for_us,
                         .sever_us = sever_us});
    return true;
}

bool nemesis_hole(const nemesis_fault* f)
{
    wire_way way = f->x % 2 == 0 ? WIRE_REQUESTS : WIRE_BOTH;
    wire_do((wire_order){
        .what = WIRE_SWALLOW, .way = way, .share = nemesis_share_of(f->y), .seed = f->z, .for_us = f->for_us});
    return true;
}

bool nemesis_slow(const nemesis_fault* f)
{
    wire_way way = (wire_way)(f->x % 3);
    wire_do((wire_order){
        .what = WIRE_HOLD, .way = way, .share = nemesis_share_of(f->y), .seed = f->z, .for_us = f->for_us});
    return true;
}

bool nemesis_chop(const nemesis_fault* f)
{
    wire_do((wire_order){.what = WIRE_CHOP, .size = (uint32_t)(1 + f->x % 60), .for_us = f->for_us});
    return true;
}

/* All links gone and no new one for a while. With an odd x, what was asked is done and its answer is lost. */
bool nemesis_outage(const nemesis_fault* f)
{
    wire_do((wire_order){.what = WIRE_SHUT, .for_us = f->for_us});
    if (f->x % 2 == 1)
        wire_do((wire_order){.what = WIRE_SWALLOW, .way = WIRE_REPLIES, .share = 1000, .for_us = 30000 + f->y % 50000});
    else wire_do((wire_order){.what = WIRE_CUT, .share = 1000, .abrupt = f->y % 2 == 0});
    return true;
}
