fd -e py -t f . src | head; fd -uu pattern; fdfind -d 2 --exclude build x
rg -n --type py "import (os|sys)" . | less; less a.txt
echo "scale=2; $total / 3" | bc -l
average=$(bc <<< "scale=2; (1 + 2) / 2")
timeout 5 grep -c a a.txt; timeout -k 1 2s sort a.txt
column -t -s, a.csv; xxd a.bin | head -n 2; tree -L 2; zip -qr out.zip src; whoami
sleep 1 &
pid=$!
jobs; wait "$pid"; disown -a
