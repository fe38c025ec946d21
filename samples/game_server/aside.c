/* aside.c -- see aside.h. */

#include "aside.h"

static FILE* other;

FILE* aside(void)
{
    return other == NULL ? stdout : other;
}

void aside_to(const char* path)
{
    if (other != NULL || path == NULL) return;
    other = fopen(path, "a");
    if (other != NULL) setvbuf(other, NULL, _IOLBF, 0);
}
