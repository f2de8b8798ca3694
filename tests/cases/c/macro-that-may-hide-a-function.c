#if UNKNOWN
#define system(x) 0
#endif
int main(void) { return system("id"); }
// expect 4 c.process
