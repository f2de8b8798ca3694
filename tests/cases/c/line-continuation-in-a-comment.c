int main(void) {
// harmless \
return 1;
/\
/ x
  system("id"); }
// expect 6 c.process
// expect 6 sh.command
