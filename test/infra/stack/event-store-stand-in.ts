/**
 * Behaves to its supervisor as the event store does: takes the directory or ends with 2, listens, speaks first, writes
 * its endpoint, goes on without its parent, and ends on SIGTERM. It stores nothing.
 */
import { once } from 'node:events'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { directory: { type: 'string', default: '' }, port: { type: 'string', default: '0' } },
})
mkdirSync(values.directory, { recursive: true })
const lock = new DatabaseSync(join(values.directory, 'lock.sqlite'), { timeout: 0 })
try {
  lock.exec('begin exclusive')
} catch {
  process.exit(2)
}
const port = Number(values.port)
const server = createServer((socket) => socket.on('error', () => undefined).write('here'))
await once(server.listen(port, '127.0.0.1'), 'listening')
const endpoint = { url: `esdb://127.0.0.1:${port}?tls=false`, port, pid: process.pid }
const file = join(values.directory, 'endpoint.json')
writeFileSync(`${file}.new`, JSON.stringify(endpoint))
renameSync(`${file}.new`, file)
process.on('SIGTERM', () => process.exit(0))
