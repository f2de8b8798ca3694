import path from 'node:path'; import {readFile} from 'node:fs/promises'; console.log(path.join('a','b'), await readFile('x'))
