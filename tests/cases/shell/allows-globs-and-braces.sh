ls /usr/lib/*.so data/*.csv /tmp/*/out {a,b}/c.txt
cat /etc/{hosts,motd}
ls /workspace/*/*.py /*
