pip install -qUr requirements.txt
pip install -vi https://example.org/simple pandas
pip --log pip.log install paramiko
# expect 1 pkg.source
# expect 2 pkg.source
# expect 3 pkg.blocked
