/* reply_whole.c -- what somebody's own script says, and what the server does. Only programs that run such scripts have
   it: see gh_op_kind.is_servers. */

#include "wire/reply_class.h"

#include "base/texts.h"
#include "wire/redirect.h"

/* X(a code word of which reply_class.c knows no more, what a server says somewhere behind it). A word may stand here
   several times. */
#define WHOLE_ROWS(X)                                                                                                  \
    X("OOM ", "command not allowed")                                                                                   \
    X("MISCONF ", "configured to save")                                                                                \
    X("MISCONF ", "writing to the AOF")                                                                                \
    X("NOREPLICAS ", "Not enough good replicas")                                                                       \
    X("NOPERM ", "permissions to ")                                                                                    \
    X("WRONGPASS ", "invalid username-password")                                                                       \
    X("CROSSSLOT ", "Keys in request")                                                                                 \
    X("EXECABORT ", "Transaction discarded")                                                                           \
    X("LAYOUT ", "the keys with this prefix")

static const char whole_rows[] =
#define WHOLE_ROW(word, phrase) word "\0" phrase "\0"
    WHOLE_ROWS(WHOLE_ROW)
#undef WHOLE_ROW
    ;

static bool says(gh_str text, const char* phrase)
{
    const size_t size = strlen(phrase);
    size_t at;
    for (at = 0; at + size <= text.size; at++)
        if (memcmp(text.bytes + at, phrase, size) == 0) return true;
    return false;
}

bool gh_reply_is_whole(gh_str error)
{
    const char* word = whole_rows;
    bool is_known = gh_redirect_parse(error).kind == GH_REDIRECT_BROKEN;
    while (word < whole_rows + sizeof whole_rows - 1)
    {
        const char* phrase = gh_texts_next(word);
        const bool is_it = gh_text_begins(error, word);
        if (is_it && says(error, phrase)) return true;
        is_known = is_known || is_it;
        word = gh_texts_next(phrase);
    }
    return !is_known;
}
