#include <stdio.h>
#define COLOURS X(RED, 1) X(GREEN, 2) X(BLUE, 4)
enum colour {
#define X(n, v) COLOUR_##n = v,
    COLOURS
#undef X
};
static const char *name(enum colour c) { switch (c) {
#define X(n, v) case COLOUR_##n: return #n;
    COLOURS
#undef X
    } return "?"; }
int main(void) { puts(name(COLOUR_GREEN)); }
