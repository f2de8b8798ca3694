#include "../../workspace/x.c"
// expect 1 c.open-outside
