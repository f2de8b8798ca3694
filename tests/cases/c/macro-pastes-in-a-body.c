#define run sys##tem
#define M(x) x##tem
int main(void) { M(sys)("id"); return 0; }
// expect 3 c.process
// expect 3 sh.command
