/* binding.c -- what a binding in another language asks before it calls anything. */

#include "base/texts.h"
#include "guildhall/guildhall.h"

#include "gh_structs.h"

static const char binding_names[] =
#define BINDING_NAME(type) #type "\0"
    GH_STRUCTS(BINDING_NAME)
#undef BINDING_NAME
    ;

static const uint32_t binding_sizes[] = {
#define BINDING_SIZE(type) (uint32_t)sizeof(type),
    GH_STRUCTS(BINDING_SIZE)
#undef BINDING_SIZE
};

size_t gh_sizeof(const char* name)
{
    const char* known = binding_names;
    size_t i;
    for (i = 0; name != NULL && i < sizeof binding_sizes / sizeof binding_sizes[0]; i++)
    {
        if (strcmp(known, name) == 0) return binding_sizes[i];
        known = gh_texts_next(known);
    }
    return 0;
}
