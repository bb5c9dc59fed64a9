/**
 * Behaves to its supervisor like the event store: locks the directory or exits with 2, listens, sends first,
 * writes its endpoint, outlives its parent, and ends on SIGTERM. It stores nothing.
 */
import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { directory: { type: 'string', default: '' } } })
mkdirSync(values.directory, { recursive: true })
const lock = new DatabaseSync(join(values.directory, 'lock.sqlite'), { timeout: 0 })
try {
  lock.exec('begin exclusive')
} catch {
  process.exit(2)
}
const path = join(values.directory, 'stand-in')
rmSync(path, { force: true })
const server = createServer((socket) => socket.on('error', () => undefined).write('here'))
await once(server.listen(path), 'listening')
const endpoint = { url: `unix:${path}`, pid: process.pid }
const file = join(values.directory, 'endpoint.json')
writeFileSync(`${file}.new`, JSON.stringify(endpoint))
renameSync(`${file}.new`, file)
process.on('SIGTERM', () => process.exit(0))
