/* A call before QEMU ends the process by a signal: plugins are not told of that. */
#ifndef DEATH_H
#define DEATH_H

#include <stdbool.h>

/*
 * Has the function called before QEMU kills itself because its program died of a signal. Gives false where this QEMU
 * does not do so in the way that is known; then nothing is written for such a program.
 */
bool before_death(void (*function)(int signal));

#endif
