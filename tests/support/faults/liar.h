/* liar.h -- scripts that do what they should and say something else: one element of one answer is another one. */

#ifndef GUILDHALL_TESTS_LIAR_H
#define GUILDHALL_TESTS_LIAR_H

#include "support/faults/half.h"

#define LIAR_ELEMENTS_MAX 24u /* of an answer; those behind them are told the truth of */

/* From now on the game runs the script with a lie before its answer goes out, if one is prepared. False: as
   half_install. */
bool liar_install(drill* self, half_script script);

/* How many elements the script's longest answer had since liar_install, up to LIAR_ELEMENTS_MAX. 0: it was not run. */
unsigned liar_elements(drill* self, half_script script);

/* The next answer of the script has that number, or that text, as its element, 1 for the first. A number of which the
   script itself makes a text is one there, too. */
void liar_prepare(drill* self, half_script script, unsigned element, long long number);
void liar_prepare_text(drill* self, half_script script, unsigned element, const char* text);

/* The next answer has so many elements, whatever they are: those that are missing are 0. */
void liar_prepare_size(drill* self, half_script script, unsigned elements);

/* The next answer is an array instead of one text, or a text instead of an array. */
void liar_prepare_form(drill* self, half_script script);

/* True: it is told. */
bool liar_has_lied(drill* self, half_script script);

#endif
