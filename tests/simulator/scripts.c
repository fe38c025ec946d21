/* scripts.c -- unpacks what the library has packed. */

#include "simulator/scripts.h"

#include "client/script_text.h"
#include "support/sha1.h"

#include <stdlib.h>
#include <string.h>

#define SCRIPT_NAME(name) #name,
static const char* const names[] = {GH_SCRIPT_LIST(SCRIPT_NAME)};
#undef SCRIPT_NAME
#define SCRIPT_TEXT(name) &gh_##name##_lua,
static const gh_script_text* const texts[] = {GH_SCRIPT_LIST(SCRIPT_TEXT)};
#undef SCRIPT_TEXT

static char digests[GH_SCRIPT_COUNT][SCRIPTS_DIGEST_SIZE + 1];

/* ---- once for all clients --------------------------------------------------------------------------------- */

#ifdef __linux__ /* as premake5.lua has it for --wrap */

static char* unpacked[GH_SCRIPT_COUNT];

/* The linker's --wrap gives these two names their meaning: the library's calls of gh_script_unpack come here. Each
   client unpacks each script for itself, which was a tenth of a run. */
char* __real_gh_script_unpack(const gh_script_text* text, char* out);
char* __wrap_gh_script_unpack(const gh_script_text* text, char* out);

char* __wrap_gh_script_unpack(const gh_script_text* text, char* out)
{
    char** kept = &unpacked[text->id];
    if (*kept == NULL)
    {
        *kept = malloc(text->size);
        if (*kept == NULL) abort();
        (void)__real_gh_script_unpack(text, *kept);
    }
    memcpy(out, *kept, text->size);
    return out + text->size;
}

#endif

/* ---- all of them ------------------------------------------------------------------------------------------ */

void scripts_each(void (*use)(void* context, const char* text, size_t size), void* context)
{
    for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++)
    {
        char* text = malloc((size_t)texts[i]->size + 1);
        if (text == NULL) abort();
        size_t size = (size_t)(gh_script_unpack(texts[i], text) - text);
        sha1_hex(text, size, digests[i]);
        use(context, text, size);
        free(text);
    }
}

static void nothing(void* context, const char* text, size_t size)
{
    (void)context;
    (void)text;
    (void)size;
}

const char* scripts_name(const char digest[SCRIPTS_DIGEST_SIZE])
{
    if (digests[0][0] == '\0') scripts_each(nothing, NULL);
    for (unsigned i = 0; i < GH_SCRIPT_COUNT; i++)
        if (memcmp(digests[i], digest, SCRIPTS_DIGEST_SIZE) == 0) return names[i];
    return NULL;
}
