pip install -q --upgrade pandas 'numpy>=1.26'
pip3 install --target lib requests
npm i lodash
pip show paramiko
pip list --format=json
