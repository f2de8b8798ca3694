#define F puts
int puts(const char *);
int main(void) { F("x"); return 0; }
#undef F
#define F system
int g(void) { return F("id"); }
// expect 5 c.process
// expect 6 c.process
// expect 6 sh.command
