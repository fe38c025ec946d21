/* columns.c -- the elements of a text. */

#include "wire/columns.h"

#include "wire/number.h"

/* Half of them have one digit: codes, places, nothing. */
static const char* column_number(const char* at, const char* end, int64_t* number)
{
    if (at == end || (end - at > 1 && at[1] != ' ') || !gh_number_is_digit(*at))
        return gh_number_digits(at, end, number);
    *number = *at - '0';
    return at + 1;
}

static bool columns_add(gh_values* values, gh_str text, const char* shape)
{
    const char* at = text.bytes;
    const char* end = text.bytes + text.size;
    for (;; at++, shape++)
    {
        gh_reply* column = gh_values_add(values, *shape == 's' ? GH_REPLY_STRING : GH_REPLY_INTEGER);
        if (column == NULL) return false;
        if (values->node_count > 2) column[-1].next = column;
        if (*shape == 's')
        {
            column->text = gh_str_make(at, (size_t)(end - at));
            return true;
        }
        at = column_number(at, end, &column->integer);
        if (at == NULL) return false;
        if (shape[1] == 0) return at == end;
        if (at == end || *at != ' ') return false;
    }
}

bool gh_columns_read(gh_values* values, const char* shape)
{
    gh_reply* reply = &values->nodes[0];
    if (reply->type != GH_REPLY_STRING || values->node_count != 1) return false;
    if (!columns_add(values, reply->text, shape))
    {
        values->node_count = 1;
        return false;
    }
    reply->type = GH_REPLY_ARRAY;
    reply->count = values->node_count - 1;
    reply->first = &values->nodes[1];
    return true;
}
