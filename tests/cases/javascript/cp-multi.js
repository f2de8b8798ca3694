import {
 exec
} from 'child_process'
// expect 3 js.process
