find . 2>/dev/null -exec id x \;
# expect 1 sh.command
command 2>/dev/null id x
# expect 3 sh.command
ls | xargs >out id
# expect 5 sh.command
cp a 2>/dev/null /etc/x
# expect 7 sh.open-outside
pip install >/dev/null paramiko
# expect 9 pkg.blocked
ls && command >x id
# expect 11 sh.command
! command >x <y id
# expect 13 sh.command
export A=1 >x PATH=/tmp
# expect 15 sh.command
command <<END >x id
a
END
# expect 17 sh.command
cp a 2>/dev/null b
X=ls
read >/dev/null X <f
$X a
# expect 24 sh.command
