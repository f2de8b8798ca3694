int main(void) { char *v[] = { "sh", 0 }; return __builtin_execv("/bin/sh", v); }
// expect 1 c.process
