/* The same places with functions. */
#include <signal.h>
#include <stddef.h>
typedef void (*handler)(int);
typedef int (*compare)(const void *, const void *);
static void on(int s) { (void)s; }
static int order(const void *a, const void *b) { return a < b ? -1 : a > b; }
struct ops { handler on; compare order; void *data; };
static int numbers[4];
static struct ops ops[] = { { .on = on, .order = (compare)order, .data = numbers }, { on, order, (void *)numbers } };
static handler table[] = { on, (handler)on, NULL, SIG_IGN, [6] = on };
static handler pick(int n)
{
    if (n == 0) return SIG_DFL;
    handler other = n > 2 ? table[n] : NULL;
    return other != NULL ? other : on;
}
int main(void)
{
    struct sigaction a = { .sa_handler = on };
    a.sa_handler = SIG_IGN;
    a.sa_handler = pick(1);
    sigaction(SIGINT, &a, NULL);
    return ops[0].on == on ? 0 : 1;
}
