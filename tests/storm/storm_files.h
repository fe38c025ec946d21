/* storm_files.h -- what the records of the files mean. */

#ifndef GUILDHALL_TESTS_STORM_STORM_FILES_H
#define GUILDHALL_TESTS_STORM_STORM_FILES_H

enum
{
    FILES_READERS = 2
};

enum
{
    FILES_SEND = 1, /* a: bytes; about: the send that has begun the file, if this one goes on with it; d: 1 once
                       all of it was pushed, and 2 once it was open                                         */
    FILES_LIST,     /* a: behind which number                                                               */
    FILES_READ,     /* about: the send; a: bytes that came, b: pieces that are not as sent, c: which reader,
                       d: 1 if the end came: all of it, verified                                            */
    FILES_LOOK,     /* the auditor's. about: the send; a: 1 if it is there, b: readers that have not ended  */
    FILES_REMOVE,   /* about: the send                                                                      */
    FILES_CHANNEL   /* by the witness. a: the last number that was given, b: how many files are announced   */
};

/* The send that has begun the file of that send: the file is named by it. */
uint32_t files_begun_by(uint32_t send);

void check_files(void);

#endif
