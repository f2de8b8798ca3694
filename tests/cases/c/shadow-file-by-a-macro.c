#define S(x) #x
const char *p = S(/etc/shadow);
// expect 2 any.credentials
