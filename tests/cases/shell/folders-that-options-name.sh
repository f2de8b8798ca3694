# The folder of a copy may be an option's value.
cp -t /etc a
cp -at/etc a
cp --target-directory=/etc a
mv -t/etc a
mv --target-directory=/etc a
ln -sft/etc a
ln -s --target-directory=/etc a
csplit -f /etc/x a 1
csplit --prefix=/etc/x a 1
tar xf a.tar --one-top-level=/etc
# expect 2 sh.command
# expect 2 sh.open-outside
# expect 3 sh.command
# expect 4 sh.command
# expect 5 sh.command
# expect 6 sh.command
# expect 7 sh.command
# expect 8 sh.command
# expect 9 sh.command
# expect 10 sh.command
# expect 11 sh.command
