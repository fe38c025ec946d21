/* verdict.c -- the list of promises with what was found, and the marks that excuse. */

#include "storm/verdict.h"

#include "storm/storm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    SHOWN_MAX = 5,
    PROMISES_MAX = 96
};

static struct
{
    const char* promises[PROMISES_MAX];
    unsigned violations[PROMISES_MAX];
    unsigned long long cases[PROMISES_MAX];
    unsigned count;
    bool quiet;
} verdict;

void verdict_be_quiet(void)
{
    verdict.quiet = true;
}

const char* verdict_first_broken(void)
{
    for (unsigned i = 0; i < verdict.count; i++)
        if (verdict.violations[i] != 0) return verdict.promises[i];
    return NULL;
}

void verdict_begin(const char* promise)
{
    if (verdict.count == PROMISES_MAX) abort();
    verdict.promises[verdict.count++] = promise;
}

void verdict_violation(const uint32_t* ops, const char* format, ...)
{
    unsigned at = verdict.count - 1;
    if (++verdict.violations[at] > SHOWN_MAX || verdict.quiet) return;
    va_list arguments;
    va_start(arguments, format);
    printf("VIOLATION of \"%s\": ", verdict.promises[at]);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    for (; *ops != 0; ops++) printf("    %s\n", history_line(*ops));
}

void verdict_cases(uint64_t count)
{
    verdict.cases[verdict.count - 1] += count;
}

unsigned verdict_end(void)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < verdict.count; i++) failed += verdict.violations[i] != 0 ? 1 : 0;
    if (verdict.quiet) return failed;
    printf("checkers:\n");
    for (unsigned i = 0; i < verdict.count; i++)
    {
        printf("  %-6s %9llu cases  %s", verdict.violations[i] == 0 ? "ok" : "FAILED", verdict.cases[i],
               verdict.promises[i]);
        if (verdict.violations[i] != 0) printf(": %u violations", verdict.violations[i]);
        printf("\n");
    }
    printf("%u passed, %u failed\n", verdict.count - failed, failed);
    return failed;
}
