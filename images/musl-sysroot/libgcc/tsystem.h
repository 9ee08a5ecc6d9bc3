/* Stands in for the C library, which does not exist when libgcc is compiled. */
#include <float.h>
#include <stddef.h>

#define CHAR_BIT __CHAR_BIT__
#define abort __builtin_trap
