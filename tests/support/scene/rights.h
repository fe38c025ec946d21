/* rights.h -- the users that sdk/KEYS.md and the headers say a game needs. */

#ifndef GUILDHALL_TESTS_RIGHTS_H
#define GUILDHALL_TESTS_RIGHTS_H

/* "game on >secret ~gh:* ...": its name and the words of ACL SETUSER behind it, with a blank between each two. Valid
   for the whole run. */
const char* rights_of_the_page(void);

/* The same, and what the page gives it beside that on a Cluster. */
const char* rights_in_a_cluster(void);

/* "watcher on >secret resetchannels &+switch-master ...": the user of the Sentinels, as the page has it. */
const char* rights_at_sentinels(void);

/* The same by guildhall/sentinel.h, without "watcher on >secret". */
const char* rights_of_the_sentinels_header(void);

#endif
