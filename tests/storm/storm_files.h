/* storm_files.h -- what the records of the files mean. */

#ifndef GUILDHALL_TESTS_STORM_STORM_FILES_H
#define GUILDHALL_TESTS_STORM_STORM_FILES_H

enum
{
    FILES_READERS = 2
};

enum
{
    FILES_SEND = 1, /* a: bytes */
    FILES_LIST,
    FILES_READ,    /* about: the send; a: bytes that came, b: of these not as they were sent, c: which reader,
                      d: 1 if the end came: all of it, verified                                            */
    FILES_LOOK     /* the auditor's. about: the send; a: 1 if it is there, b: readers that have not ended  */
};

void check_files(void);

#endif
