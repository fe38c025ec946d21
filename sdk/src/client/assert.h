/* assert.h -- what a state forbids, said where it would be seen first; never anything that came from outside.

       GH_ASSERT      what a caller got wrong, as a copy of a busy op that is used: in every build
       GH_INVARIANT   what we got wrong: in builds without NDEBUG, as some of them stand where every request passes

   hooks.assertion is told, and says whether to stop there; without that hook all goes on. GH_NO_ASSERT leaves out
   both. */

#ifndef GH_ASSERT_H
#define GH_ASSERT_H

#include "guildhall/client.h"

/* log.c */
bool gh_assertion(const gh_client* client, const char* file, int line, const char* expression);

#if defined(_MSC_VER)
#define GH_BREAK() __debugbreak()
#elif defined(__clang__) || defined(__GNUC__)
#define GH_BREAK() __builtin_trap()
#else
#define GH_BREAK() ((void)(*(volatile int*)0 = 0))
#endif

/* An analyzer that does not follow how a state came about takes it from us. */
#if defined(__clang_analyzer__)
#define GH_CHECKED(client, expression) ((void)(client), (expression) ? (void)0 : __builtin_unreachable())
#else
#define GH_CHECKED(client, expression)                                                                               \
    do                                                                                                               \
    {                                                                                                                \
        if (!(expression) && gh_assertion((client), __FILE__, __LINE__, #expression)) GH_BREAK();                    \
    } while (0)
#endif
#define GH_UNCHECKED(expression) ((void)sizeof(!(expression))) /* it still has to compile */

#if defined(GH_NO_ASSERT)
#define GH_ASSERT(client, expression) GH_UNCHECKED(expression)
#else
#define GH_ASSERT(client, expression) GH_CHECKED(client, expression)
#endif

#if defined(GH_NO_ASSERT) || defined(NDEBUG)
#define GH_INVARIANT(client, expression) GH_UNCHECKED(expression)
#else
#define GH_INVARIANT(client, expression) GH_CHECKED(client, expression)
#endif

#endif
