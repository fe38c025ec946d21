/* binding.c -- what a binding in another language asks before it calls anything. */

#include "guildhall/guildhall.h"

#include "gh_structs.h"

size_t gh_sizeof(const char* name)
{
    static const struct
    {
        const char* name;
        size_t size;
    } structs[] = {
#define BINDING_STRUCT(type) {#type, sizeof(type)},
        GH_STRUCTS(BINDING_STRUCT)
#undef BINDING_STRUCT
    };
    size_t i;
    for (i = 0; name != NULL && i < sizeof structs / sizeof structs[0]; i++)
        if (strcmp(structs[i].name, name) == 0) return structs[i].size;
    return 0;
}
