// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Jumps to itself three times, each until a signal ends it, and prints where that is. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static sigjmp_buf out;

static void on_alarm(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

void spin(void);
__asm__(".pushsection .text\n"
	".globl spin\n"
	".type spin, @function\n"
	"spin:	j spin\n"
	".size spin, .-spin\n"
	".popsection\n");

int main(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 20000 };
	volatile int rounds = 3;

	signal(SIGALRM, on_alarm);
	printf("%lx\n", (unsigned long)spin);
	fflush(stdout);
	sigsetjmp(out, 1);
	if (rounds--) {
		setitimer(ITIMER_REAL, &soon, NULL);
		spin();
	}
	return 0;
}
