/* sales.c -- all purchases of all bots, in a table with open addressing that grows. */

#include "sales.h"

#include <stdlib.h>

static sale* place_of(sale* table, uint32_t capacity, uint32_t item, int64_t version)
{
    uint64_t mixed = ((uint64_t)item << 32 ^ (uint64_t)version) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(mixed >> 32) & (capacity - 1);
    while (table[i].version != 0 && (table[i].item != item || table[i].version != version))
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

bool sales_open(sales* s)
{
    *s = (sales){.capacity = 1024};
    s->table = calloc(s->capacity, sizeof(sale));
    return s->table != NULL;
}

void sales_close(sales* s)
{
    free(s->table);
    s->table = NULL;
}

static bool grow(sales* s)
{
    uint32_t capacity = s->capacity * 2;
    sale* table = calloc(capacity, sizeof(sale));
    if (table == NULL) return false;
    for (uint32_t i = 0; i < s->capacity; i++)
        if (s->table[i].version != 0) *place_of(table, capacity, s->table[i].item, s->table[i].version) = s->table[i];
    free(s->table);
    s->table = table;
    s->capacity = capacity;
    return true;
}

/* The one that is known, or a new one like it that nobody has bought yet. */
static sale* sale_of(sales* s, const sale* like, unsigned* faults)
{
    *faults = 0;
    if (s->count >= s->capacity / 2 && !grow(s))
    {
        *faults = SALE_NO_ROOM;
        return NULL;
    }
    sale* found = place_of(s->table, s->capacity, like->item, like->version);
    if (found->version == 0)
    {
        *found = (sale){.item = like->item, .seller = like->seller, .version = like->version, .price = like->price};
        s->count++;
    }
    if (found->seller != like->seller || found->price != like->price) *faults = SALE_DIFFERS;
    return found;
}

static unsigned buy(sales* s, sale* sold, uint32_t buyer)
{
    unsigned fault = sold->bought || sold->back ? SALE_TWICE : 0;
    if (!sold->bought) s->bought++;
    sold->bought = true;
    sold->buyer = buyer;
    return fault;
}

unsigned sales_bought(sales* s, const sale* bought)
{
    unsigned faults = 0;
    sale* sold = sale_of(s, bought, &faults);
    return sold == NULL ? faults : faults | buy(s, sold, bought->buyer);
}

unsigned sales_told(sales* s, const sale* told, bool* again)
{
    unsigned faults = 0;
    sale* sold = sale_of(s, told, &faults);
    *again = sold != NULL && sold->told;
    if (sold == NULL) return faults;
    if (!sold->told) s->told++;
    sold->told = true;
    return sold->back ? faults | SALE_TWICE : faults;
}

/* The mail does not tell a price, so there is none to compare. */
unsigned sales_back(sales* s, const sale* back, bool* again)
{
    unsigned faults = 0;
    sale* sold = sale_of(s, back, &faults);
    *again = sold != NULL && sold->back;
    if (sold == NULL) return faults;
    sold->back = true;
    if (sold->seller != back->seller) return SALE_DIFFERS;
    return sold->bought || sold->told ? SALE_TWICE : 0;
}

unsigned sales_unsure(sales* s, const sale* wanted)
{
    unsigned faults = 0;
    sale* sold = sale_of(s, wanted, &faults);
    if (sold != NULL) sold->doubts++;
    return faults;
}

unsigned sales_sure(sales* s, uint32_t item, int64_t version, uint32_t buyer, bool happened)
{
    sale* sold = place_of(s->table, s->capacity, item, version);
    if (sold->version == 0 || sold->doubts == 0) return SALE_DIFFERS;
    sold->doubts--;
    return happened ? buy(s, sold, buyer) : 0;
}

bool sales_has_untold(const sales* s, uint32_t seller)
{
    if (s->bought == s->told) /* usual, and then cheap; but doubts may even it out */
        if (seller == UINT32_MAX) return false;
    for (uint32_t i = 0; i < s->capacity; i++)
    {
        const sale* sold = &s->table[i];
        if (sold->bought && !sold->told && (seller == UINT32_MAX || sold->seller == seller)) return true;
    }
    return false;
}

bool sales_is_told(const sales* s, uint32_t i, bool* counts)
{
    const sale* sold = &s->table[i];
    *counts = sold->version != 0 && sold->bought;
    return sold->told || !sold->bought;
}

bool sales_has_buyer(const sales* s, uint32_t i, bool* counts)
{
    const sale* sold = &s->table[i];
    *counts = sold->version != 0 && (sold->bought || sold->told);
    return sold->bought || !sold->told || sold->doubts > 0;
}
