/* The facts of aarch64 that gcc's target headers would give. */
#define BITS_PER_UNIT 8
#define UNITS_PER_WORD 8
#define MIN_UNITS_PER_WORD 8
#define LONG_LONG_TYPE_SIZE 64
#define FLOAT_WORD_ORDER_MISMATCH 0
