exec 3<>/etc/x
exec 3<>/dev/tcp/example.org/80
exec 3<>"$(cat x)"
exec 10<>f
bash <>f
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 4 sh.command
# expect 5 sh.command
