// Guarantee: after `keyledger freeze` has returned, no process appends anything until `keyledger unfreeze`,
// whatever it was doing and whenever it was started; writes get 503, and reads and validates continue.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openRawLog } from '../../src/ledger/raw/log.ts'
import { createHost } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { type Client, client, createVendor } from './vendor.ts'

const host = createHost()
/** `KEYLEDGER_TEST_FREEZES=100` for the long run. */
const freezes = wholeVariable('KEYLEDGER_TEST_FREEZES', 2)
const Frozen = z.object({ frozen: z.literal(true), since: z.string() })
const Doctor = z.object({
  healthy: z.boolean(),
  parts: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().optional() })),
})

test(`two servers under load append nothing after each of ${freezes} freezes`, async () => {
  const { environment, eventstoreUrl, databaseUrl } = await host.stores()
  const token = await createVendor(environment)
  const servers = await Promise.all([host.serve(environment), host.serve(environment)])
  const vendors = servers.map(({ address }) => client(address, token))
  const [vendor, other] = vendors
  if (!vendor || !other) throw new Error('there are two')
  await vendor.createProduct(2)
  const { licenseKey } = await vendor.mint()
  await vendor.activate(licenseKey, 'laptop')
  const log = openRawLog(eventstoreUrl)
  const counts = { minted: 0, refused: 0, other: [] as number[] }
  const stopping = new AbortController()
  const load = vendors.flatMap((one) => [1, 2, 3].map(() => keepMinting(one, counts, stopping.signal)))
  try {
    for (let round = 0; round < freezes; round++) {
      await until(() => counts.minted >= (round + 1) * 10)
      await host.json(Frozen, ['freeze', '--reason', 'a move'], environment)
      const head = await log.head()
      const refused = counts.refused
      await until(() => counts.refused >= refused + 20)
      expect(await log.head()).toBe(head)
      expect((await other.validate(licenseKey, 'laptop')).body).toMatchObject({ valid: true })
      await host.run(['unfreeze'], environment)
    }
    await until(() => counts.minted >= (freezes + 1) * 10)
    // The log contains what was acknowledged, and not what was refused.
    expect(counts.other).toStrictEqual([])
  } finally {
    stopping.abort()
    await Promise.all(load)
    await log.close()
  }
  const database = new pg.Client(databaseUrl)
  await database.connect()
  const { rows } = await database.query('select count(*)::int as minted from read_models.licenses')
  await database.end()
  expect(rows).toStrictEqual([{ minted: counts.minted + 1 }])
})

test('a freeze applies to a server that starts later and to commands, and doctor shows it', async () => {
  const { environment } = await host.stores()
  const token = await createVendor(environment)
  const before = await host.serve(environment)
  await client(before.address, token).createProduct(2)
  const { licenseKey } = await client(before.address, token).mint()
  expect(await doctor(environment)).not.toHaveProperty('parts.writes')
  await host.json(Frozen, ['freeze'], environment)
  await before.end('SIGTERM')

  const server = await host.serve(environment)
  const vendor = client(server.address, token)
  const refused = await fetch(`${server.address}/v1/licenses/activate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }),
  })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await refused.json()).toMatchObject({
    error: { code: 'unavailable', message: expect.stringContaining('the ledger is frozen') as string },
  })
  expect((await vendor.validate(licenseKey, 'laptop')).status).toBe(200)
  expect((await vendor.send('GET', '/v1/licenses')).status).toBe(200)
  // Log lines are written with a delay.
  await expect.poll(() => server.stderr() + server.stdout()).toContain('The ledger is frozen by operator:')
  const ready = await fetch(`${server.address}/readyz`)
  expect(ready.status).toBe(200)
  expect(await ready.json()).toMatchObject({
    parts: { writes: { ok: false, detail: expect.stringContaining('keyledger unfreeze') as string } },
  })
  expect(await doctor(environment)).toMatchObject({ healthy: true, parts: { writes: { ok: false } } })
  const created = await host.run(['tenant', 'create', 'late'], environment)
  expect(created).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('To end the freeze: keyledger unfreeze') as string,
  })

  expect((await host.run(['unfreeze'], environment)).code).toBe(0)
  expect((await vendor.activate(licenseKey, 'laptop')).body).toMatchObject({ activated: true })
  expect((await host.run(['unfreeze'], environment)).stdout).toContain('was not frozen')
})

async function keepMinting(
  vendor: Client,
  counts: { minted: number; refused: number; other: number[] },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { status, body } = await vendor.send('POST', '/v1/licenses', { productId: 'editor' })
    if (status === 201) counts.minted++
    else if (status !== 503) counts.other.push(status)
    else if (String(body.error).startsWith('the ledger is frozen')) counts.refused++
    if (status === 503) await sleep(10)
  }
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await sleep(10)
}

const doctor = async (environment: Record<string, string>) => host.json(Doctor, ['doctor'], environment)
