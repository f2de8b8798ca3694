#if __has_include("x.h")
#define system puts
#endif
int main(void) { return system("id"); }
// expect 4 c.process
