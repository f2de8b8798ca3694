#ifdef SOMETHING
#define F system
#else
#define F puts
#endif
int puts(const char *);
int main(void) { F("id"); return 0; }
// expect 2 c.process
