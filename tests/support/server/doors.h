/* doors.h -- with --tls: behind which addresses somebody speaks TLS, and where.

   Tests go on to name servers by the addresses that they always had. What asks for something beside the code under test
   (audits, connections by hand) finds the plain server there; clients are led to its other door:

       client --- "unix:/path" ---> doors_find ---> "127.0.0.1:PORT", TLS

   A proxy has a door where its server has one, and passes on what is said there as it is. */

#ifndef GUILDHALL_TESTS_DOORS_H
#define GUILDHALL_TESTS_DOORS_H

#include <stdbool.h>

#define DOOR_SIZE 128

/* Who wants to speak TLS with whoever is at that address goes to the door. A door that is there already is moved. */
void doors_add(const char* address, const char* door);
void doors_remove(const char* address);

/* False: nobody speaks TLS there. Always without --tls. */
bool doors_find(const char* address, char door[DOOR_SIZE]);

#endif
