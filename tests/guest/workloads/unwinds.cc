// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * unwinds ROUNDS FILE [thrown] - leaves functions in all the ways that are no return: exceptions,
 * long jumps, signals, coroutines; ROUNDS of them. "thrown": by two exceptions a round only. probe()
 * is called again and again, and FILE says how deep below main() each time: a number a line.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
#include <spawn.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))

static int depth;	/* of the function at hand; main has 0 */
static std::vector<int> depths;

/* A function of our own is this much deeper than its caller, until it is left in any way. */
struct level {
	level() { depth++; }
	~level() { depth--; }
};

extern "C" NOINLINE void probe(int at)
{
	depths.push_back(at);
}

__attribute__((always_inline)) static inline void note()
{
	probe(depth + 1);
}

/* ---- exceptions ---- */

NOINLINE static void thrower(int n)
{
	level here;

	if (n == 0)
		throw std::runtime_error("deep");
	if (n < 0)
		throw n;
	thrower(n - 1);
	note();
}

NOINLINE static void catches(int n)
{
	level here;

	try {
		thrower(n);
	} catch (const std::exception &e) {
		note();
	} catch (int) {
		note();
	}
	note();
}

/* Each level catches, and every other one throws again: the same landing pad in each. */
NOINLINE static void rethrows(int n)
{
	level here;

	try {
		if (!n)
			throw n;
		rethrows(n - 1);
	} catch (int) {
		note();
		if (n % 3)
			throw;
	}
	note();
}

/* As GCC lays it out, the call that never returns, to throw on, is in front of a landing pad. */
NOINLINE static void nests(int n)
{
	level here;

	try {
		if (!n)
			throw n;
		nests(n - 1);
	} catch (int) {
		note();
		try {
			throw 2.0;
		} catch (double) {
			note();
		}
		if (n % 2 == 0 && n < 6)
			throw;
	}
	note();
}

NOINLINE static void catches_nested(int n)
{
	level here;

	try {
		nests(n);
	} catch (int) {
		note();
	}
	note();
}

/* Deeper than most programs are; the callers outside are still there afterwards. */
NOINLINE static int recurses(int n)
{
	return n ? recurses(n - 1) + 1 : 0;
}

NOINLINE static void throws_from(int n)
{
	level here;

	if (!n)
		throw n;
	throws_from(n - 1);
	note();
}

NOINLINE static void deep()
{
	level here;

	recurses(20000);
	note();
	try {
		throws_from(1500);
	} catch (int) {
		note();
	}
	note();
}

/* A frame without a handler, in C, is between. */
static int compare(const void *a, const void *b)
{
	if (*(const int *)a == *(const int *)b)
		throw std::string("equal");
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void through_library()
{
	level here;
	int numbers[] = { 4, 2, 5, 2, 1 };

	try {
		qsort(numbers, 5, sizeof(int), compare);
	} catch (const std::string &) {
		note();
	}
	note();
}

/* ---- long jumps ---- */

static jmp_buf out;
static sigjmp_buf signal_out;

NOINLINE static void jumper(int n)
{
	if (n)
		jumper(n - 1);
	else if (depth)
		longjmp(out, 1);
	probe(-1);
}

NOINLINE static void long_jumps(int n)
{
	int was = depth;

	depth++;
	if (!setjmp(out))
		jumper(n);
	note();
	depth = was;
}

/* Out of a recursion: only that setjmp() has returned there tells which of the calls goes on. */
NOINLINE static void recursive_jump(int n, bool outermost)
{
	int was = depth;

	depth++;
	if (outermost) {
		if (!setjmp(out))
			recursive_jump(n, false);
	} else if (n) {
		recursive_jump(n - 1, false);
	} else {
		longjmp(out, 1);
	}
	depth = was + 1;
	note();
	depth = was;
}

static void leave_signal(int)
{
	siglongjmp(signal_out, 1);
}

static volatile int signalled;

static void stay_in_signal(int)
{
	signalled = 1;
}

NOINLINE static void faults(volatile int *where)
{
	*where = 1;
	probe(-1);
}

NOINLINE static void signals()
{
	int was = depth;

	depth++;
	signal(SIGUSR1, stay_in_signal);
	raise(SIGUSR1);
	note();
	signal(SIGSEGV, leave_signal);
	if (!sigsetjmp(signal_out, 1))
		faults(nullptr);
	note();
	depth = was;
}

/* ---- coroutines ---- */

static ucontext_t resumer, contexts[2];
static char stacks[2][65536];

/*
 * A coroutine is deeper than resume() by swapcontext(), in place of which __start_context() runs,
 * and calls it.
 */
#define DEEPER 2

NOINLINE static void yields(int which, int n)
{
	depth++;
	note();
	if (n)
		yields(which, n - 1);
	else
		swapcontext(&contexts[which], &resumer);
	note();
	depth--;
}

static void coroutine(int which)
{
	for (;;) {
		note();
		yields(which, which + 2);
		swapcontext(&contexts[which], &resumer);
	}
}

/* Where each of them is, beyond its own beginning. */
static int within[2];

NOINLINE static void resume(int which)
{
	int was = depth + 1;

	depth = was + DEEPER + within[which];
	swapcontext(&resumer, &contexts[which]);
	within[which] = depth - was - DEEPER;
	depth = was;
	note();
	depth--;
}

NOINLINE static void coroutines(int rounds)
{
	depth++;
	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		contexts[i].uc_link = nullptr;
		makecontext(&contexts[i], (void (*)())coroutine, 1, i);
		within[i] = 0;
	}
	for (int i = 0; i < rounds; i++)
		resume(i % 2);
	note();
	depth--;
}

/* ---- other things ---- */

NOINLINE static int is_odd(int n);

NOINLINE static int is_even(int n)
{
	return n ? is_odd(n - 1) : 1;
}

NOINLINE static int is_odd(int n)
{
	return n ? is_even(n - 1) : 0;
}

NOINLINE static void children()
{
	char name[] = "true";
	char *argv[] = { name, nullptr };
	pid_t pid;

	depth++;
	if (!posix_spawnp(&pid, name, nullptr, nullptr, argv, environ))
		waitpid(pid, nullptr, 0);
	note();
	pid = vfork();
	if (!pid)
		_exit(0);
	waitpid(pid, nullptr, 0);
	note();
	depth--;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	note();
	children();
	for (int i = 0; i < rounds; i++) {
		catches(i % 5);
		catches(-1 - i % 3);
		if (i % 10 || argc > 3)
			continue;
		rethrows(i % 7);
		through_library();
		catches_nested(i / 10 % 7);
		long_jumps(i % 4);
		recursive_jump(i % 4, true);
		is_even(i % 8);
		note();
		if (i % 100 == 0)
			signals();
	}
	coroutines(rounds / 10);
	deep();
	children();
	note();
	if (argc > 2) {
		FILE *file = fopen(argv[2], "w");

		for (int at : depths)
			fprintf(file, "%d\n", at);
		fclose(file);
	}
	return 0;
}
