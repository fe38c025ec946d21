/* sales.h -- all purchases of all bots: each offer has one buyer, and its seller is told. It knows nothing of
   the network. An offer is a version of an item. */

#ifndef GAME_SERVER_SALES_H
#define GAME_SERVER_SALES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sale
{
    uint32_t item; /* with version the key; version 0: an empty place */
    uint32_t seller;
    uint32_t buyer;  /* the last one, if bought */
    uint32_t doubts; /* purchases of which nobody knows whether they happened */
    int64_t version;
    int64_t price;
    bool bought;
    bool told;
    bool back; /* nobody bought it in time */
} sale;

typedef struct sales
{
    sale* table;
    uint32_t capacity; /* a power of two */
    uint32_t count;
    uint32_t bought;
    uint32_t told;
} sales;

typedef enum sale_fault
{
    SALE_TWICE = 1 << 0,   /* bought again, or both bought and back   */
    SALE_DIFFERS = 1 << 1, /* price or seller are not what others say */
    SALE_NO_ROOM = 1 << 2
} sale_fault;

bool sales_open(sales* s);
void sales_close(sales* s);

/* Each returns the faults, 0 if there are none. *again: the seller was told so before, as may happen. */
unsigned sales_bought(sales* s, const sale* bought);
unsigned sales_told(sales* s, const sale* told, bool* again);
unsigned sales_back(sales* s, const sale* back, bool* again);

/* A purchase is unsure; later it turns out to have happened or not. */
unsigned sales_unsure(sales* s, const sale* wanted);
unsigned sales_sure(sales* s, uint32_t item, int64_t version, uint32_t buyer, bool happened);

/* True if a seller (any, for UINT32_MAX) was not told yet of a sale that happened. */
bool sales_has_untold(const sales* s, uint32_t seller);

/* At the end, of one after the other, i < capacity: false if it is wrong. *counts: false for an empty
   place. */
bool sales_is_told(const sales* s, uint32_t i, bool* counts);
bool sales_has_buyer(const sales* s, uint32_t i, bool* counts);

#endif
