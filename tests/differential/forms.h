/* forms.h -- random requests: every command that scripts use, with good and with bad words; straight, and from Lua. */

#ifndef GUILDHALL_TESTS_DIFFERENTIAL_FORMS_H
#define GUILDHALL_TESTS_DIFFERENTIAL_FORMS_H

#include "guildhall/base.h"
#include "support/random.h"

/* Memory for the words of a batch. */
typedef struct form_words
{
    gh_str words[80];
    uint32_t count;
    char bytes[16384];
    size_t used;
} form_words;

void form_add(form_words* words, gh_str word); /* a copy of it */
void form_add_number(form_words* words, uint64_t number);

/* Some command. */
void form_draw(random_stream* random, form_words* words);

/* Some script of Lua with some command in it. */
void form_draw_lua(random_stream* random, form_words* words);

/* A change of what the user "game" may do; the first time, of its password too. */
void form_draw_rights(random_stream* random, form_words* words);

#endif
