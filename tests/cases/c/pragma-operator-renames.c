/* _Pragma does what #pragma does. */
_Pragma("redefine_extname run system")
extern int run(const char *);
#define WEAK(text) _Pragma(text)
WEAK("weak go = fork")
extern int go(void);
int main(void) { return run("id") + go(); }
// expect 2 c.native
// expect 2 c.process
// expect 5 c.native
// expect 5 c.process
