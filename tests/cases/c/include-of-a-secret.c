char s[] =
#include "/etc/passwd"
;
// expect 1 source.syntax
// expect 2 c.open-outside
// expect 2 any.credentials
