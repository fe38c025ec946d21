/* others.c -- the faults of fleets of servers, of which there are none here. */

#include "storm/fleet.h"
#include "storm/nemesis_kinds.h"
#include "storm/store.h"

const nemesis_kind nemesis_fleet_kinds[1];
const unsigned nemesis_fleet_count = 0;

void nemesis_fleet_look(void)
{
}

void nemesis_fleet_heal(void)
{
}

void nemesis_fleet_print(void)
{
}

void nemesis_fleet_show(void)
{
}

bool fleet_has_settled(void)
{
    return true;
}

bool store_replica_has_all(void)
{
    return false;
}

void store_fail_over(void)
{
}
