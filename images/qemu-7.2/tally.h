/* What was counted, and the file that it goes to. */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classes.h"

struct function {
    struct function *next; /* in its bucket */
    const char *name;
    const char *object;
    uint64_t count; /* filled in when the file is written */
};

/* Instructions of one block that belong to one function. */
struct portion {
    struct function *function;
    uint32_t instructions;
};

/* A translated block: straight-line code, counted once each time that it is entered. */
struct block {
    struct block *next;
    uint64_t executions;
    uint16_t classes[CLASSES_MAX];
    uint32_t used;
    struct portion portions[];
};

/* Gives the function of this name in this object, the same one each time. Exits the process when memory is out. */
struct function *function_of(const char *name, const char *object);

/* Gives a new block with room for so many portions, on the list of all. */
struct block *new_block(size_t portions);

/* Sets every count to zero: a child process counts from its fork on. */
void tally_restart(void);

/*
 * Decides where the file goes: "%p" in the path is the process, "%%" a percent sign. Relative paths are taken from
 * the present folder. Gives false when no file can be made there.
 */
bool output_to(const char *pattern);

/* How a program ended that a signal ended. */
struct death {
    int signal;                      /* the host's number */
    const struct function *function; /* where it met an illegal instruction, or NULL */
    uint64_t address;                /* of that instruction, in the guest */
};

/* Writes what was counted; again if it is called again. death is NULL for a program that ended by itself. */
void tally_write(const struct class_set *classes, const char *program, const struct death *death);

/* The process has become another one, which writes a file of its own. */
void output_renew(void);

#endif
