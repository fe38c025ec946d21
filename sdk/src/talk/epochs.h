/* epochs.h -- which epoch a message is of. Ids of a row go on from epoch to epoch; the store says where each one ended:

       "<epoch>:<last id> <epoch>:<last id> ..."    those that are over, the oldest first; then comes the present one */

#ifndef GH_EPOCHS_H
#define GH_EPOCHS_H

#include "guildhall/base.h"

typedef struct gh_epochs
{
    gh_str ended;     /* in the reply that it came with */
    uint64_t present;
} gh_epochs;

/* True if the text is of that form, with ids that do not fall and end before those to come. No epoch is 0. */
bool gh_epochs_are_valid(const gh_epochs* epochs, uint64_t last_id);

/* As gh_epochs_of, where there are epochs that are over. */
uint64_t gh_epochs_look_up(const gh_epochs* epochs, uint64_t id);

/* The epoch of a message. */
static inline uint64_t gh_epochs_of(const gh_epochs* epochs, uint64_t id)
{
    return epochs->ended.size == 0 ? epochs->present : gh_epochs_look_up(epochs, id);
}

/* The last id that is there of what a reader knows as ids of an epoch: most or less; 0 if the row knows nothing of that
   epoch any more. */
uint64_t gh_epochs_least(const gh_epochs* epochs, uint64_t known, uint64_t most);

/* True if the row has, or had, that epoch. */
bool gh_epochs_have(const gh_epochs* epochs, uint64_t epoch);

#endif
