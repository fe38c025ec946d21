/* columns.h -- an answer that is one text of whole numbers with a blank between each two, "7 0 12345 10000000": half a
   microsecond less for the server than an array of them. */

#ifndef GH_COLUMNS_H
#define GH_COLUMNS_H

#include "wire/flat.h"

/* Makes the reply that was read into the values last, a string, an array of its numbers. False: it is no such string,
   or there are too many, and the reply is as it was. */
bool gh_columns_read(gh_values* values);

#endif
