mkdir -p out
cp data.csv out/
mv out/data.csv /tmp/x.csv
unzip archive.zip -d data
du -sh . ; df -h ; which pip
