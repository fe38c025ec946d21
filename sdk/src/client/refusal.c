/* refusal.c -- what was refused, in words. */

#include "client/refusal.h"

#include "client/state.h"
#include "wire/format.h"

static size_t words_of(char* text, size_t text_size, const char* words, ...)
{
    gh_format format;
    memset(&format, 0, sizeof format);
    format.at = words;
    format.out = text;
    format.end = text + text_size;
    va_start(format.values, words);
    gh_format_all(&format);
    va_end(format.values);
    return (size_t)(format.out - text);
}

size_t gh_refusal_words(const gh_bound* row, uint64_t value, char* text, size_t text_size)
{
    return words_of(text, text_size, "%s = %llu, not within %llu..%llu%s", row->field, (unsigned long long)value,
                    (unsigned long long)row->least, (unsigned long long)row->most, row->or_zero ? ", nor 0" : "");
}

static gh_status refusal_of(const gh_bound* row, uint64_t value, gh_client* client)
{
    if (gh_client_is_one(client))
    {
        client->invalid_size = (uint32_t)gh_refusal_words(row, value, client->invalid, sizeof client->invalid);
        client->invalid_told = row->status;
    }
    return row->status;
}

void gh_refusal_note(gh_client* client, gh_status status)
{
    if (!gh_client_is_one(client) || !gh_status_is_invalid(status)) return;
    if (client->invalid_told != status)
        client->invalid_size =
            (uint32_t)words_of(client->invalid, sizeof client->invalid, "%s", gh_status_text(status));
    client->invalid_told = GH_OK;
}

gh_str gh_client_last_invalid(const gh_client* client)
{
    if (!gh_client_is_one(client)) return gh_str_make("", 0);
    return gh_str_make(client->invalid, client->invalid_size);
}

gh_status gh_refusal_check(const gh_bounds* bounds, const void* config, gh_client* client)
{
    uint64_t value;
    const gh_bound* row;
    if (!gh_bounds_are_of(bounds, config)) return GH_INVALID_CONFIG;
    row = gh_bounds_broken(bounds, config, &value);
    return row == NULL ? GH_OK : refusal_of(row, value, client);
}
