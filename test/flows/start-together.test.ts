// Guarantee: any number of processes can start concurrently on empty stores. All start successfully, and everything
// that must exist once is created once.
import { readdirSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, type Server } from '../harness/process.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const readiness = z.object({ ready: z.boolean() })

test('two servers start on an empty database, and every migration is applied once', async () => {
  const stores = await host.stores()
  const servers = await Promise.all([1, 2].map(() => host.serve(stores.environment)))
  expect(await Promise.all(servers.map(isReady))).toStrictEqual([true, true])

  const session = new pg.Client({ connectionString: stores.databaseUrl })
  await session.connect()
  const { rows } = await session.query(
    'select name, count(*)::int from keyledger_migrations group by name order by name',
  )
  await session.end()
  const directory = new URL('../../projections/database/migrations/', import.meta.url)
  const migrations = readdirSync(directory).map((file) => file.replace('.sql', ''))
  expect(rows).toStrictEqual(migrations.sort().map((name) => ({ name, count: 1 })))

  // They serve the same ledger: each shows at once what another has done.
  const token = await createVendor(stores.environment)
  const [first, ...others] = servers.map(({ address }) => client(address, token))
  if (!first) throw new Error('no client')
  await first.createProduct(1)
  const { licenseKey } = await first.mint()
  const answers = await Promise.all(others.map((other) => other.validate(licenseKey, 'laptop')))
  expect(answers.map(({ body }) => body.status)).toStrictEqual(['inactive'])
})

test('two servers start on an empty data directory, and create one demo tenant and one token', async () => {
  const environment = { KEYLEDGER_DATA_DIR: host.path('data') }
  const servers = await Promise.all([host.serve(environment), host.serve(environment)])
  for (const server of servers) {
    await expect.poll(() => server.stderr()).toContain('"msg":"Ready"')
  }
  expect(await Promise.all(servers.map(isReady))).toStrictEqual([true, true])
  const tokens = servers.flatMap((server) => server.stdout().match(/^ {2}kl_pat_\w+$/gm) ?? [])
  expect(tokens).toHaveLength(1)
  const tenants = await host.json(
    z.array(z.object({ tenantId: z.string() })),
    ['tenant', 'list'],
    environment,
  )
  expect(tenants).toStrictEqual([{ tenantId: 'demo' }])
  const ends = await Promise.all(servers.map((server) => server.end('SIGTERM')))
  expect(ends.map(({ code }) => code)).toStrictEqual([0, 0])
})

async function isReady({ address }: Server): Promise<boolean> {
  const response = await fetch(`${address}/readyz`)
  return readiness.parse(await response.json()).ready
}
