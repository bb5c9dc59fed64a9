/**
 * Tries everything that another user of the machine could do with a data directory, and prints the result of each
 * try as one line of JSON: the error code, or `got in`. It only receives the paths, which are no secret.
 */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { clientOf } from '../../src/ledger/connection/client.ts'

const [dataDirectory = '', pids = ''] = process.argv.slice(2)
const outcomes: Record<string, string> = {}

async function attempt(what: string, work: () => unknown): Promise<void> {
  try {
    await work()
    outcomes[what] = 'got in'
  } catch (error) {
    const { code, type, message } = error as { code?: unknown; type?: unknown; message: string }
    outcomes[what] = /EACCES/.test(message) ? 'EACCES' : String(code ?? type ?? message)
  }
}

for (const directory of [
  '',
  'eventstore',
  'eventstore/socket',
  'postgres',
  'postgres/data',
  'postgres/socket',
  'run',
]) {
  await attempt(`list ${directory}`, () => readdirSync(join(dataDirectory, directory)))
}
for (const file of [
  'master.key',
  'eventstore/events.sqlite',
  'eventstore/endpoint.json',
  'postgres/passwords.json',
  'postgres/data/PG_VERSION',
  'run/eventstore.log',
]) {
  await attempt(`read ${file}`, () => readFileSync(join(dataDirectory, file)))
}
// Destructive tries run only as another user.
if (process.getuid?.() !== 0) {
  await attempt('write a file', () => writeFileSync(join(dataDirectory, 'intruded'), ''))
  await attempt('move the directory away', () => renameSync(dataDirectory, `${dataDirectory}.moved`))
}
for (const pid of pids.split(',')) {
  await attempt(`environment of ${pid}`, () => readFileSync(`/proc/${pid}/environ`))
}

for (const user of ['keyledger', 'keyledger_app', 'keyledger_schema', 'postgres']) {
  await attempt(`Postgres as ${user}`, async () => {
    const host = join(dataDirectory, 'postgres/socket')
    const client = new pg.Client({ host, user, database: 'keyledger', password: 'guessed' })
    client.on('error', () => undefined)
    await client.connect()
    await client.end()
  })
}

await attempt('the event store', async () => {
  const client = clientOf(`unix:${join(dataDirectory, 'eventstore/socket/store')}`)
  try {
    for await (const _ of client.readAll({ maxCount: 1 })) break
  } finally {
    await client.dispose()
  }
})
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
process.exit()
