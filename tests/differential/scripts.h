/* scripts.h -- Guildhall's own scripts, called with keys and arguments as their heads describe them, with some that are
   not, and with what earlier replies had in them. */

#ifndef GUILDHALL_TESTS_DIFFERENTIAL_SCRIPTS_H
#define GUILDHALL_TESTS_DIFFERENTIAL_SCRIPTS_H

#include "differential/forms.h"

/* Reads the heads; asks for each script to be loaded. */
void scripts_open(void);
void scripts_close(void);
void scripts_load(void);
uint32_t scripts_count(void);

/* EVALSHA of some script. NOW is the moment, in microseconds since 1970. */
void scripts_draw(random_stream* random, uint64_t now_us, form_words* words);

/* For those who want to know how deep the calls went: how many of each were refused. */
void scripts_count_reply(const form_words* words, gh_str reply);
void scripts_say(void);

/* Remembers texts of a reply, to be arguments of later calls. */
void scripts_learn(random_stream* random, gh_str reply);

#endif
