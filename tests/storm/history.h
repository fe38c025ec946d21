/* history.h -- what happened: every op's begin and end, what was seen between them, and every fault.

   One table, written by all who take part and read by the checkers after the run: history_shared.c puts it into memory
   that all processes share. A record is never removed, so it outlives the kill -9 of who wrote it. Its index is its
   name: an op's index goes into the bodies, ids and values that the op writes to the store, so whatever is found there
   leads back to the op.

   An op is one record: begun (begin_us), and later ended (end_us, status, outcome). One that was never ended was cut
   off by the death of its process, and counts as UNKNOWN. An event is a record that begins and ends at once.

   Time is in microseconds and the same for all; whose it is, the program says: history_clock.c reads CLOCK_MONOTONIC, a
   simulator has a time of its own. */

#ifndef GUILDHALL_TESTS_STORM_HISTORY_H
#define GUILDHALL_TESTS_STORM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of an op's effect. UNKNOWN: it happened once or never, at any time after its begin. */
typedef enum storm_outcome
{
    STORM_OPEN = 0,
    STORM_DONE,
    STORM_NOT_DONE,
    STORM_UNKNOWN
} storm_outcome;

/* Who wrote a record. Each start of a process is a life of it. */
typedef struct storm_who
{
    uint8_t process;
    uint8_t client;
    uint16_t life;
} storm_who;

typedef struct storm_record
{
    uint64_t begin_us;
    uint64_t end_us; /* 0: not ended */
    uint64_t a;      /* what these four say is up to the system and the kind */
    uint64_t b;
    uint64_t c;
    uint64_t d;
    uint32_t about; /* the op that an event belongs to; 0: none */
    storm_who who;
    int16_t status;  /* a gh_status */
    uint8_t outcome; /* a storm_outcome */
    uint8_t system;
    uint8_t what;   /* which op or event of the system */
    uint8_t object; /* which of the few names */
    bool is_event;
} storm_record;

typedef struct history_table history_table;

/* Where the table lies is up to the program: memory of so many bytes, zero at first. */
size_t history_size(uint32_t capacity);

/* Begins the table in that memory. When it is nearly full, nothing more is begun, and the weather ends; what is left is
   for all that goes on until the end. Records beyond the capacity are not written: begin then returns 0, and nothing
   may be done; and what was seen is not known, so nothing can be judged. */
void history_begin_table(void* memory, uint32_t capacity);

/* A table that another process has begun. */
void history_use_table(void* memory);

/* Of processes: maps the table for all that are forked from this one, and for a program that was not: see board.h. */
void history_open(uint32_t capacity);
int history_descriptor(void);
bool history_join(int descriptor);

uint64_t history_now(void);

/* Sleeps so long. */
void history_pause(uint64_t us);

/* Begins an op. The fields a to d may be set through history_at until it is ended. 0: no room. */
uint32_t history_begin(storm_who who, uint8_t system, uint8_t what, uint8_t object);
void history_end(uint32_t op, storm_outcome outcome, int status);

typedef struct storm_event
{
    uint8_t system;
    uint8_t what;
    uint8_t object;
    uint32_t about;
    uint64_t a;
    uint64_t b;
    uint64_t c;
    uint64_t d;
} storm_event;

uint32_t history_event(storm_who who, storm_event event);

/* The same, at a time that is past: that of the tick which told it. A process may be frozen between the two. */
uint32_t history_event_at(storm_who who, storm_event event, uint64_t at_us);

storm_record* history_at(uint32_t index);
uint32_t history_count(void); /* indices are 1 .. count */
bool history_is_full(void);   /* nearly */
bool history_has_overflowed(void);

/* When it was over at the latest: its end, or for ever if it has none or is UNKNOWN. */
uint64_t history_over_us(const storm_record* op);

/* The next record of that system behind *at, which starts as 0; NULL at the end. */
const storm_record* history_next(uint32_t* at, uint8_t system);

/* One line for a person; the text lives until the eighth call from now. */
const char* history_line(uint32_t index);

#endif
