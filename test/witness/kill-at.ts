/**
 * Loaded before a program: kills its process at the `KILL_AT`-th call that writes, before the call or after it. Nothing of
 * the program can notice, as with kill -9 from outside.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [at = '', when = ''] = (process.env.KILL_AT ?? '').split(' ')
let left = Number(at)

const names = ['openSync', 'writeSync', 'fsyncSync', 'renameSync'] as const
for (const name of names) {
  const call = fs[name] as (...args: unknown[]) => unknown
  const counted = (...args: unknown[]): unknown => {
    const [path] = args
    // Nothing else of the process writes, but Node opens files to read them.
    if (name === 'openSync' && args[1] === 'r' && !String(path).endsWith('logs')) return call(...args)
    left -= 1
    if (left === 0 && when === 'before') process.kill(process.pid, 'SIGKILL')
    const result = call(...args)
    if (left === 0) process.kill(process.pid, 'SIGKILL')
    return result
  }
  Object.assign(fs, { [name]: counted })
}
syncBuiltinESMExports()
