#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t stop;
static void on_alarm(int s) { (void)s; stop = 1; }
int main(void) { struct sigaction a = { .sa_handler = on_alarm }; sigaction(SIGALRM, &a, NULL); signal(SIGINT, SIG_IGN); alarm(1); while (!stop) pause(); raise(SIGTERM); puts("done"); }
