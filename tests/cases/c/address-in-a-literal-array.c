int main(void) { return (*(int (**)(const char *))(void *[]){ (void *)0x401000 })("id"); }
// expect 1 c.native
