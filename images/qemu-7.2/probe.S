/*
 * A program whose instructions can be counted by hand, for both byte orders of aarch64, without any library:
 * 3 in _start before the loop, 1,000 x 12 in the loop of work, 1 ret, 3 to end: 12,007 in all.
 */
        .arch   armv8.4-a+crypto+sha3+sha2+sm4

        .globl  _start
        .type   _start, %function
_start:
        mov     x0, #1000
        mov     x1, #0
        bl      work
        mov     x0, #0
        mov     x8, #93
        svc     #0
        .size   _start, . - _start

        .globl  work
        .type   work, %function
work:
        aese    v0.16b, v1.16b
        aesmc   v0.16b, v0.16b
        pmull   v2.1q, v0.1d, v1.1d
        pmull   v2.8h, v0.8b, v1.8b
        sha1h   s3, s0
        sha256h q3, q4, v5.4s
        sha256su0 v3.4s, v4.4s
        sha512su0 v3.2d, v4.2d
        eor3    v3.16b, v4.16b, v5.16b, v6.16b
        rax1    v3.2d, v4.2d, v5.2d
        subs    x0, x0, #1
        b.ne    work
        ret
        .size   work, . - work
