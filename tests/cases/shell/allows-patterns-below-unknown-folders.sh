for f in "$1"/*/test_*; do echo "$f"; done
ls "$folder"/*/*
wc -l "${folder}"/*/*.py
data=/usr/share
ls $data/*
