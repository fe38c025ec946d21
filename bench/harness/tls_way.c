/* tls_way.c -- with --tls, what the clients of the benches speak TLS through. The server is asked for its counts and
   flushed without it. */

#include "harness/bench.h"

#include "guildhall/platform.h"

#include <stdlib.h>

#if defined(GH_WITH_TLS)

#include "guildhall/tls.h"

#define ROOTS_MAX (64 * 1024)

static char roots[ROOTS_MAX];
static size_t roots_size;

bool bench_tls_begin(const bench_options* options)
{
    if (options->tls == NULL)
    {
        return true;
    }
    FILE* file = options->tls_roots == NULL ? NULL : fopen(options->tls_roots, "rb");
    roots_size = file == NULL ? 0 : fread(roots, 1, sizeof roots, file);
    if (file != NULL)
    {
        fclose(file);
    }
    if (roots_size == 0)
    {
        fprintf(stderr, "--tls wants --tls-roots FILE with who signed the server's certificate\n");
    }
    return roots_size > 0;
}

const gh_platform* bench_tls_open(bench_tls* self, const gh_platform* platform)
{
    self->tls = NULL;
    self->block = NULL;
    if (roots_size == 0 || platform != gh_platform_default())
    {
        return platform;
    }
    gh_tls_config config = gh_tls_config_default();
    config.credentials.roots = gh_str_make(roots, roots_size);
    config.steps_per_tick = 64;
    size_t size = (gh_tls_memory(&config) + 63) / 64 * 64;
    self->block = size == 0 ? NULL : aligned_alloc(64, size);
    gh_status status =
        self->block == NULL ? GH_INVALID_MEMORY : gh_tls_init(self->block, size, &config, platform, &self->tls);
    if (status == GH_OK)
    {
        return gh_tls_platform(self->tls);
    }
    fprintf(stderr, "  gh_tls_init: %s\n", gh_status_text(status));
    bench_tls_close(self);
    return NULL;
}

void bench_tls_close(bench_tls* self)
{
    gh_tls_shutdown(self->tls);
    free(self->block);
    self->tls = NULL;
    self->block = NULL;
}

#else

bool bench_tls_begin(const bench_options* options)
{
    if (options->tls != NULL)
    {
        fprintf(stderr, "--tls: built without mbedTLS\n");
    }
    return options->tls == NULL;
}

const gh_platform* bench_tls_open(bench_tls* self, const gh_platform* platform)
{
    self->tls = NULL;
    self->block = NULL;
    return platform;
}

void bench_tls_close(bench_tls* self)
{
    self->tls = NULL;
}

#endif
