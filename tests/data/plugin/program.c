/* A program for tests of the counting plugin: what it does is named by its first argument. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000, THREADS = 8, CALLS = 100 };

__attribute__((noinline)) static int work(void)
{
    volatile int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sum += i;
    }
    return sum;
}

/* As long as work(), to the instruction, under another name. */
__attribute__((noinline)) static int work_of_child(void)
{
    volatile int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sum += i;
    }
    return sum;
}

static void *thread(void *unused)
{
    for (int i = 0; i < CALLS; i++) {
        work();
    }
    return unused;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, thread, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void run_child(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        work_of_child();
        _exit(0);
    }
    waitpid(child, &status, 0);
}

__attribute__((noinline)) static void illegal(void)
{
#ifdef __aarch64__
    __asm__ volatile(".inst 0");
#else
    __asm__ volatile("ud2");
#endif
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "plain";
    work();
    if (strcmp(what, "threads") == 0) {
        run_threads();
    } else if (strcmp(what, "fork") == 0) {
        run_child();
    } else if (strcmp(what, "exec") == 0) {
        execv(arguments[2], arguments + 2);
        return 1;
    } else if (strcmp(what, "illegal") == 0) {
        illegal();
    } else if (strcmp(what, "killed") == 0) {
        raise(SIGKILL);
    }
    fputs("said\n", stderr);
    return 0;
}
