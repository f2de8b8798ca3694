npm install lodash@4.17.21
pip install --quiet numpy pandas
