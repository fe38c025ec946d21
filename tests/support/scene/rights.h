/* rights.h -- the user that sdk/KEYS.md says a game needs. */

#ifndef GUILDHALL_TESTS_RIGHTS_H
#define GUILDHALL_TESTS_RIGHTS_H

/* "game on >secret ~gh:* ...": its name and the words of ACL SETUSER behind it, with a blank between each two. Valid
   for the whole run. */
const char* rights_of_the_page(void);

/* The same, and what guildhall/cluster.h says beside it. */
const char* rights_in_a_cluster(void);

#endif
