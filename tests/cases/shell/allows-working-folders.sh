(cd .. ; ls)
rm -rf build a/../x
(cd data; rm -rf ../x; echo x > ../out.txt)
(cd data && rm x; cd .. && rm y)
(cd "$1" && rm x)
(cd /tmp/a; rm -rf ../x)
(cd ..; cd -; rm x)
(cd ..; cd; rm x)
y=$(cd ..; pwd)
pushd data; rm x; popd; rm y
find . -name '*.tmp' | xargs rm -f
find data -name '*.tmp' -exec rm {} +
ls *.csv | xargs wc -l
echo a b | xargs rm
ls /tmp/* ~/*
rm -rf ~/old "$HOME/old"
echo x > ~/out.txt
ls /srv/* /usr/share/*
