/* assert.h -- what a state forbids, said where it would be seen first: a caller's mistake (a copy of a busy op) or one
   of ours, never anything that came from outside. hooks.assertion is told, and says whether to stop there; without that
   hook all goes on. GH_NO_ASSERT leaves them out. */

#ifndef GH_ASSERT_H
#define GH_ASSERT_H

#include "guildhall/client.h"

/* log.c */
bool gh_assertion(const gh_client* client, const char* file, int line, const char* expression);

#if defined(GH_NO_ASSERT)
#define GH_ASSERT(client, expression) ((void)0)
#else
#if defined(_MSC_VER)
#define GH_BREAK() __debugbreak()
#elif defined(__clang__) || defined(__GNUC__)
#define GH_BREAK() __builtin_trap()
#else
#define GH_BREAK() ((void)(*(volatile int*)0 = 0))
#endif
#define GH_ASSERT(client, expression)                                                                                \
    do                                                                                                               \
    {                                                                                                                \
        if (!(expression) && gh_assertion((client), __FILE__, __LINE__, #expression)) GH_BREAK();                    \
    } while (0)
#endif

#endif
