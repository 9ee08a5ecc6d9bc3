/* Instructions of a target's crypto extensions, told apart by class. */
#ifndef CLASSES_H
#define CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLASSES_MAX = 8 };

struct class_set {
    const char *targets[3];         /* QEMU's names of the targets that it is for; NULL ends the list */
    const char *names[CLASSES_MAX]; /* NULL ends the list */
    bool by_text;                   /* needs the disassembler's text */
    /* Gives the index of an instruction's class, or -1. */
    int (*classify)(const uint8_t *bytes, size_t size, const char *text);
};

/* Gives the classes of a target; one without any where none are known. Never NULL. */
const struct class_set *classes_of(const char *target);

#endif
