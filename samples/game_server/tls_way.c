/* tls_way.c -- a gh_tls for one client, or the store of this process. */

#include "tls_way.h"

#include "own_store.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(GH_WITH_TLS)

#include "guildhall/tls.h"

#define ROOTS_MAX (64 * 1024)

static void on_log(void* context, gh_log_level level, gh_str text)
{
    const options* o = context;
    (void)level;
    fprintf(stderr, "%s: %.*s\n", o->name, (int)text.size, text.bytes);
}

/* Empty: it could not be read. */
static gh_str read_roots(const char* path, char* text)
{
    FILE* file = fopen(path, "rb");
    size_t size = file == NULL ? 0 : fread(text, 1, ROOTS_MAX, file);
    if (file != NULL) fclose(file);
    return gh_str_make(text, size);
}

static gh_status begin(tls_way* way, const options* o, char* text)
{
    gh_tls_config config = gh_tls_config_default();
    config.credentials.roots = read_roots(o->tls_roots, text);
    config.hooks.log = on_log;
    config.hooks.context = (void*)(uintptr_t)o;
    size_t size = gh_tls_memory(&config); /* 0: the config is not valid, and the log has said what is wrong */
    way->block = size == 0 ? NULL : aligned_alloc(64, (size + 63) & ~(size_t)63);
    if (way->block == NULL) return GH_INVALID_CREDENTIALS;
    return gh_tls_init(way->block, size, &config, gh_platform_default(), &way->tls);
}

const gh_platform* tls_way_open(tls_way* way, const options* o)
{
    *way = (tls_way){NULL, NULL};
    if (o->embedded) return own_store_platform();
    if (o->tls_roots == NULL) return gh_platform_default();
    char* text = malloc(ROOTS_MAX);
    gh_status status = text == NULL ? GH_INVALID_MEMORY : begin(way, o, text);
    free(text);
    if (status == GH_OK) return gh_tls_platform(way->tls);
    fprintf(stderr, "%s: --tls-roots %s: %s\n", o->name, o->tls_roots, gh_status_text(status));
    return NULL;
}

void tls_way_close(tls_way* way)
{
    gh_tls_shutdown(way->tls);
    free(way->block);
    *way = (tls_way){NULL, NULL};
}

#else

const gh_platform* tls_way_open(tls_way* way, const options* o)
{
    *way = (tls_way){NULL, NULL};
    if (o->embedded) return own_store_platform();
    if (o->tls_roots == NULL) return gh_platform_default();
    fprintf(stderr, "%s: --tls-roots: built without mbedTLS\n", o->name);
    return NULL;
}

void tls_way_close(tls_way* way)
{
    *way = (tls_way){NULL, NULL};
}

#endif
