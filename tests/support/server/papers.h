/* papers.h -- the certificates of the tests, made once a run by tests/tls/papers.sh: an authority "root", what it has
   signed ("server", "client", "expired", ...) and an authority "other". Without openssl the test is skipped. */

#ifndef GUILDHALL_TESTS_PAPERS_H
#define GUILDHALL_TESTS_PAPERS_H

#include "guildhall/base.h"

/* The path of a file, such as "server.key"; valid for the whole run. */
const char* papers_path(const char* name);

/* What is in it, with a NUL behind; valid for the whole run. */
gh_str papers_read(const char* name);

#endif
