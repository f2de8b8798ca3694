touch a.txt b.txt
nl a.txt; tac a.txt; rev a.txt; fold -w 20 a.txt; fmt -w 60 a.txt; expand a.txt
gzip -k a.txt && zcat a.txt.gz | od -c | head -n 2
gunzip -f a.txt.gz
base64 a.txt | base64 -d
split -l 100 a.txt part_
csplit -s a.txt '/x/' || true
cmp a.txt b.txt; diff -u a.txt b.txt; join a.txt b.txt; paste a.txt b.txt
shuf -n 1 a.txt; seq 1 5; expr 1 + 2; uname -s; basename /a/b.txt .txt; dirname /a/b.txt
cksum a.txt; md5sum a.txt; sha256sum a.txt; file a.txt; tree .
numfmt --to=iec 2048; truncate -s 0 b.txt; ln -s a.txt link; chmod 644 a.txt
zip -q out.zip a.txt b.txt; unzip -l out.zip
rm -f a.txt b.txt link; rmdir empty
