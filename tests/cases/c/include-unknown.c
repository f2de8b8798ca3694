#include CONFIG_HEADER
// expect 1 c.native
