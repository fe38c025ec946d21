/* planted.h -- the files of tests/planted: faults that were mended, and how to put them back. Their form is told in
   tests/planted/README.md; tests/planted.sh plants them. */

#ifndef GUILDHALL_TESTS_PLANTED_H
#define GUILDHALL_TESTS_PLANTED_H

/* Fails the running test if the file is not of that form, names a test that there is not, or a text that is not in the
   tree exactly once. NAME is "07_short_name.txt", the number that of its first line. */
void planted_must_apply(const char* name);

#endif
