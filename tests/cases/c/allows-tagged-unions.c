#include <stdio.h>
struct value {
    enum { NUMBER, WHOLE, FUNCTION } kind;
    union { double number; long whole; double (*function)(double); } as;
};
static double twice(double x) { return 2 * x; }
static double of(struct value v, double x) {
    switch (v.kind) {
    case NUMBER: return v.as.number;
    case WHOLE: return (double)v.as.whole;
    default: return v.as.function(x);
    }
}
int main(void) {
    struct value v = { FUNCTION, { .function = twice } };
    printf("%g %g\n", v.as.function(2), of(v, 3));
    v.kind = NUMBER;
    v.as.number = of(v, 4);
    v.kind = WHOLE;
    v.as.whole = 40;
    printf("%g\n", of(v, 0));
    return 0;
}
