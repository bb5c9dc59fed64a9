// What a validate costs at least: the ledger's schemas, and a look-up by the key's hash in a database within the process. It has
// no log, no second process and nothing to keep in step, so a ledger beside it shows what those cost.
import { DatabaseSync } from 'node:sqlite'
import { validateIn, validateOut } from '../../src/api/runtime/schemas.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { createBareApp, goodVerdict } from './bare-app.ts'
import { loadedKeyOf } from './latency-keys.ts'

const licenses = Number(process.argv[2])
const db = new DatabaseSync(':memory:')
db.exec('create table keys (hash text primary key, license_id text not null) without rowid')
const insert = db.prepare('insert into keys values (?, ?)')
db.exec('begin')
for (let license = 0; license < licenses; license++)
  insert.run(keyHashOf(loadedKeyOf(license)) ?? '', `lic_${license}`)
db.exec('commit')
const find = db.prepare('select license_id from keys where hash = ?')

const app = createBareApp()
app.post(
  '/v1/licenses/validate',
  { schema: { body: validateIn, response: { 200: validateOut } } },
  async ({ body }) => ({
    valid: find.get(keyHashOf(body.license_key) ?? '') !== undefined,
    ...goodVerdict,
    device_id: body.device_id ?? null,
  }),
)
process.stdout.write(`${JSON.stringify({ address: await app.listen({ port: 0, host: '127.0.0.1' }) })}\n`)
