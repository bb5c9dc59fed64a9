// The minimum cost of a response with the same schemas and stores. A validate is one lookup, shared by concurrent
// requests; an app's validate also a signature; a mint one append, the push from the event store and one row, written in
// a statement shared by the events that arrived meanwhile; an activation also a lookup.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { jsonEvent, NO_STREAM, streamNameFilter } from '@eventstore/db-client'
import pg from 'pg'
import { z } from 'zod'
import { activateIn, activateOut, validateIn, validateOut } from '../../src/api/runtime/schemas.ts'
import { coalesce } from '../../src/async/coalesce.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { clientOf } from '../../src/ledger/connection/client.ts'
import { createBatches } from '../../src/signing/batches.ts'
import { clientValidate, createBareApp, goodAnswer, goodVerdict } from './bare-app.ts'
import { loadedKeyOf } from './latency-keys.ts'

const [storeUrl = '', licenses = ''] = process.argv.slice(2)
const db = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, max: 4 })
const store = clientOf(storeUrl)
/** Makes an event as large as an activation's. */
const padding = 'x'.repeat(360)

const { privateKey } = generateKeyPairSync('ed25519')
const signatures = createBatches()
/** As long as the signed string of a lease. */
const toSign = 'x'.repeat(220)

await db.query(`create schema if not exists bench;
  create table if not exists bench.seats (id uuid primary key, license_id text);
  create table if not exists bench.keys (key_hash text primary key, license_id text not null)`)
await db.query(
  `insert into bench.keys select key_hash, 'lic_' || ordinal
    from unnest($1::text[]) with ordinality as k (key_hash, ordinal) on conflict do nothing`,
  [Array.from({ length: Number(licenses) }, (_, license) => keyHashOf(loadedKeyOf(license)))],
)
await db.query('analyze bench.keys')

const findLicense = coalesce(async (keyHashes: readonly string[]) => {
  const { rows } = await db.query<{ license_id: string | null }>({
    name: 'floor-lookup',
    text: `select k.license_id from unnest($1::text[]) with ordinality as q (key_hash, ordinal)
      left join bench.keys k on k.key_hash = q.key_hash order by q.ordinal`,
    values: [keyHashes],
  })
  return rows.map(({ license_id }) => license_id)
})

const writeRow = coalesce(async (rows: readonly { id: string; license_id: string }[]) => {
  await db.query({
    name: 'floor-write',
    text: 'insert into bench.seats select * from json_populate_recordset(null::bench.seats, $1)',
    values: [JSON.stringify(rows)],
  })
  return rows.map(({ id }) => id)
})

/** Requests that wait for their row, by its id. */
const waiting = new Map<string, () => void>()
const Seated = z.object({ license: z.string() })
const seated = store.subscribeToAll({
  fromPosition: 'end',
  filter: streamNameFilter({ prefixes: ['floor-'] }),
})
seated.on('data', ({ event }) => {
  if (!event) return
  const { license } = Seated.parse(event.data)
  void writeRow({ id: event.id, license_id: license }).then((id) => {
    waiting.get(id)?.()
    waiting.delete(id)
  })
})

async function seat(license: string): Promise<void> {
  const id = randomUUID()
  const written = new Promise<void>((resolve) => waiting.set(id, resolve))
  const event = jsonEvent({ id, type: 'Seated', data: { license, padding } })
  await store.appendToStream(`floor-${id}`, event, { expectedRevision: NO_STREAM })
  await written
}

const app = createBareApp()
app.post(
  '/v1/licenses/validate',
  { schema: { body: validateIn, response: { 200: validateOut } } },
  async ({ body }) => {
    const license = await findLicense(keyHashOf(body.license_key) ?? '')
    return { valid: license !== null, ...goodVerdict, device_id: body.device_id ?? null }
  },
)
app.post('/:tenantId/:productId/validate', { schema: clientValidate }, async ({ body }) => {
  const license = await findLicense(keyHashOf(body.license_key) ?? '')
  const signed = await signatures.sign('kid', privateKey, `${license} ${toSign}`)
  return goodAnswer(body.instance_id, signed)
})
app.post(
  '/v1/licenses/activate',
  { schema: { body: activateIn, response: { 200: activateOut } } },
  async ({ body }) => {
    const license = await findLicense(keyHashOf(body.license_key) ?? '')
    if (license !== null) await seat(license)
    return { activated: license !== null, ...goodVerdict, device_id: body.device_id }
  },
)
app.post('/v1/licenses', async (_, reply) => {
  const licenseKey = randomUUID()
  await seat(licenseKey)
  return reply.code(201).send({ licenseKey })
})
process.stdout.write(`${JSON.stringify({ address: await app.listen({ port: 0, host: '127.0.0.1' }) })}\n`)
