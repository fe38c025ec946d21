/* numbers.c -- texts to numbers. A script that counts with what it was told has Lua call strtod each time, and nearly
   all of those texts are a few digits. */

#include <stdlib.h>

#ifdef __linux__ /* as premake5.lua has it for --wrap */

enum
{
    DIGITS_MOST = 18 /* so many are an integer, which is rounded as the C library rounds the text */
};

double __real_strtod(const char* text, char** end);
double __wrap_strtod(const char* text, char** end);

/* Digits and nothing else; what looks in any way different is left to the C library. */
double __wrap_strtod(const char* text, char** end)
{
    long long sum = 0;
    int count = 0;
    while (count <= DIGITS_MOST && text[count] >= '0' && text[count] <= '9') sum = sum * 10 + text[count++] - '0';
    if (count == 0 || count > DIGITS_MOST || text[count] != '\0') return __real_strtod(text, end);
    if (end != NULL) *end = (char*)text + count;
    return (double)sum;
}

#endif
