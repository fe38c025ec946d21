/* binding.c -- what a binding in another language asks before it calls anything. */

#include "base/texts.h"
#include "guildhall/guildhall.h"

#include "gh_structs.h"

/* Each without the gh_ in front. */
static const char binding_names[] =
#define BINDING_NAME(name) #name "\0"
    GH_STRUCTS(BINDING_NAME)
#undef BINDING_NAME
    ;

#define BINDING_FITS(name) _Static_assert(sizeof(gh_##name) <= UINT16_MAX, "a larger number in binding_sizes");
GH_STRUCTS(BINDING_FITS)
#undef BINDING_FITS

static const uint16_t binding_sizes[] = {
#define BINDING_SIZE(name) (uint16_t)sizeof(gh_##name),
    GH_STRUCTS(BINDING_SIZE)
#undef BINDING_SIZE
};

size_t gh_sizeof(const char* name)
{
    const char* known = binding_names;
    size_t i;
    if (name == NULL || strlen(name) < 3 || memcmp(name, "gh_", 3) != 0) return 0;
    for (i = 0; i < sizeof binding_sizes / sizeof binding_sizes[0]; i++)
    {
        if (strcmp(known, name + 3) == 0) return binding_sizes[i];
        known = gh_texts_next(known);
    }
    return 0;
}
