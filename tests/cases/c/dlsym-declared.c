void *dlsym(void *, const char *);
int main(void) { ((int (*)(const char *))dlsym(0, "sys" "tem"))("id"); return 0; }
// expect 1 c.native
// expect 2 c.native
