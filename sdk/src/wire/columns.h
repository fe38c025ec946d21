/* columns.h -- an answer that is one text with a blank between each two of its elements, "7 0 12345 10000000": half a
   microsecond less for the server than an array of them. */

#ifndef GH_COLUMNS_H
#define GH_COLUMNS_H

#include "wire/flat.h"

/* Makes the reply that was read into the values last, a string, an array of the elements that a shape wants: a letter
   for each, 's' for a string, which is all that is left and the last; any other for a number. False: it is no such
   string, and the reply is as it was. */
bool gh_columns_read(gh_values* values, const char* shape);

#endif
