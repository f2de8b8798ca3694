#pragma push_macro("system")
#define system(x) 0
#pragma pop_macro("system")
int main(void) { return system("id"); }
// expect 1 c.process
// expect 3 c.process
// expect 4 c.process
