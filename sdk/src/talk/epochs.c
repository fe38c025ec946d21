/* epochs.c -- reads the line that says where each epoch of a row ended. */

#include "talk/epochs.h"

#define EPOCHS_NUMBER_MAX (1ull << 53)

/* Takes a number and the byte behind it, or the end. False: there is none. */
static bool epochs_number(gh_str* rest, char behind, uint64_t* number)
{
    uint64_t value = 0;
    size_t i;
    for (i = 0; i < rest->size && i < 16; i++)
    {
        unsigned digit = (unsigned)(unsigned char)rest->bytes[i] - '0';
        if (digit > 9) break;
        value = value * 10 + digit;
    }
    if (i == 0 || value >= EPOCHS_NUMBER_MAX) return false;
    if (i == rest->size)
    {
        if (behind == ':') return false;
    }
    else if (rest->bytes[i++] != behind)
    {
        return false;
    }
    rest->bytes += i;
    rest->size -= i;
    *number = value;
    return true;
}

/* Takes the next of those that are over. False: there is none, or it is not of the form, and stays. */
static bool epochs_next(gh_str* rest, uint64_t* epoch, uint64_t* last_id)
{
    gh_str behind = *rest;
    if (!epochs_number(&behind, ':', epoch) || !epochs_number(&behind, ' ', last_id)) return false;
    *rest = behind;
    return true;
}

bool gh_epochs_are_valid(const gh_epochs* epochs, uint64_t last_id)
{
    gh_str rest = epochs->ended;
    uint64_t before = 0;
    uint64_t epoch;
    uint64_t id;
    while (epochs_next(&rest, &epoch, &id))
    {
        if (epoch == 0 || id < before || id > last_id) return false;
        before = id;
    }
    return rest.size == 0;
}

uint64_t gh_epochs_look_up(const gh_epochs* epochs, uint64_t id)
{
    gh_str rest = epochs->ended;
    uint64_t epoch;
    uint64_t last_id;
    while (epochs_next(&rest, &epoch, &last_id))
        if (id <= last_id) return epoch;
    return epochs->present;
}

uint64_t gh_epochs_least(const gh_epochs* epochs, uint64_t known, uint64_t most)
{
    gh_str rest = epochs->ended;
    uint64_t epoch;
    uint64_t last_id;
    if (known == epochs->present) return most;
    while (epochs_next(&rest, &epoch, &last_id))
        if (epoch == known) return last_id < most ? last_id : most;
    return 0;
}

bool gh_epochs_have(const gh_epochs* epochs, uint64_t known)
{
    gh_str rest = epochs->ended;
    uint64_t epoch;
    uint64_t last_id;
    if (known == epochs->present) return true;
    while (epochs_next(&rest, &epoch, &last_id))
        if (epoch == known) return true;
    return false;
}
