rm -rf ../x
(cd .. && rm -rf x)
(cd data; rm -rf ../../x)
(pushd ..; rm x)
(cd /tmp; rm -rf ../x)
(if true; then cd ..; fi; rm x)
(cd -P ..; rm x)
(cd .. ; find . -delete)
chmod -R 777 ..
mv ../x y
rm -rf ~/..
d=..
f() { cd ..; }
f
rm x
rm -rf $d/x
# expect 1 sh.open-outside
# expect 2 sh.open-outside
# expect 3 sh.open-outside
# expect 4 sh.open-outside
# expect 5 sh.open-outside
# expect 6 sh.open-outside
# expect 7 sh.open-outside
# expect 8 sh.open-outside
# expect 9 sh.open-outside
# expect 10 sh.open-outside
# expect 11 sh.open-outside
# expect 15 sh.open-outside
# expect 16 sh.open-outside
