#inc\
lude <sys/soc\
ket.h>
// expect 1 c.socket
