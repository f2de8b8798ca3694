#pragma redefine_extname mine system
int mine(const char *);
int main(void) { mine("id"); return 0; }
// expect 1 c.native
// expect 1 c.process
