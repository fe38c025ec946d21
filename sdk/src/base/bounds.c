/* bounds.c -- fills configs from their rows, and checks them. */

#include "base/bounds.h"

static uint64_t bound_value(const gh_bound* row, const void* config)
{
    const char* place = (const char*)config + row->at;
    uint32_t small;
    uint64_t large;
    memcpy(&small, place, sizeof small);
    if (row->size == sizeof small) return small;
    memcpy(&large, place, sizeof large);
    return large;
}

static void bound_set(const gh_bound* row, void* config)
{
    char* place = (char*)config + row->at;
    uint32_t small = (uint32_t)row->usual;
    if (row->size == sizeof small) memcpy(place, &small, sizeof small);
    else memcpy(place, &row->usual, sizeof row->usual);
}

void gh_bounds_fill(const gh_bounds* bounds, void* config)
{
    size_t i;
    memset(config, 0, bounds->config_size);
    memcpy(config, &bounds->config_size, sizeof bounds->config_size);
    for (i = 0; i < bounds->count; i++) bound_set(&bounds->rows[i], config);
}

bool gh_bounds_are_of(const gh_bounds* bounds, const void* config)
{
    size_t struct_size;
    if (config == NULL) return false;
    memcpy(&struct_size, config, sizeof struct_size);
    return struct_size == bounds->config_size;
}

const gh_bound* gh_bounds_broken(const gh_bounds* bounds, const void* config, uint64_t* value)
{
    size_t i;
    for (i = 0; i < bounds->count; i++)
    {
        const gh_bound* row = &bounds->rows[i];
        *value = bound_value(row, config);
        if (row->or_zero && *value == 0) continue;
        if (*value < row->least || *value > row->most) return row;
    }
    return NULL;
}

gh_status gh_bounds_check(const gh_bounds* bounds, const void* config)
{
    uint64_t value;
    const gh_bound* row;
    if (!gh_bounds_are_of(bounds, config)) return GH_INVALID_CONFIG;
    row = gh_bounds_broken(bounds, config, &value);
    return row == NULL ? GH_OK : row->status;
}
