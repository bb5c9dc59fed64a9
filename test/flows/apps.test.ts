// Guarantee: over real sockets, a 429 has the documented headers; a kill and restart of the server
// resets neither limits nor trials; and every server returns the same bytes of signed settings.
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, type Server } from '../harness/process.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const SdkKey = z.object({ sdkKey: z.string() })

test('a trial, an exhausted rate limit and signed settings survive a kill of the server', async () => {
  const { environment, databaseUrl } = await host.stores()
  const token = await createVendor(environment)
  const limited = {
    ...environment,
    KEYLEDGER_LIMIT_CLIENT_ACTIVATE: '1/10',
    KEYLEDGER_BASE_URL: 'http://x.example',
  }
  const { sdkKey } = await host.json(SdkKey, ['sdk-key', 'show', '--tenant', 'acme'], environment)
  const post = ({ address }: Server, call: string, body: object) =>
    fetch(`${address}/acme/editor/${call}`, {
      method: 'POST',
      headers: { 'x-service-sdk-key': sdkKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const beacon = async (server: Server): Promise<unknown> => {
    const body = { instance_id: 'an install', state: 'trial', machine_hash: 'a-machine-that-stays-the-same' }
    return (await post(server, 'keyless', body)).json()
  }
  const settings = async ({ address }: Server) =>
    (await fetch(`${address}/acme/editor/config`, { headers: { 'x-service-sdk-key': sdkKey } })).text()
  const activate = (server: Server) =>
    post(server, 'activate', { license_key: 'ABCDEFGHIJ', instance_name: 'laptop' })

  const first = await host.serve(limited)
  await client(first.address, token).send('POST', '/v1/products', {
    name: 'Editor',
    productId: 'editor',
    trialDurationDays: 14,
  })
  const signed = await settings(first)
  expect(JSON.parse(signed)).toMatchObject({
    trial_duration_days: 14,
    signature: expect.any(String) as string,
  })
  const started = await beacon(first)
  expect(started).toMatchObject({ ...JSON.parse(signed), received: true, trial_already_used: false })
  for (let calls = 0; calls < 10; calls++) expect((await activate(first)).status).toBe(404)
  const refused = await activate(first)
  expect(refused.status).toBe(429)
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'x-service-limit-scope': 'ip',
    'x-service-limit': '1',
    'x-service-remaining': '0',
    'retry-after': expect.stringMatching(/^[1-9]\d*$/) as string,
  })
  await untilShared(databaseUrl)
  await first.end('SIGKILL')

  const [second, third] = await Promise.all([host.serve(limited), host.serve(limited)])
  expect([await settings(second), await settings(third)]).toStrictEqual([signed, signed])
  expect(await beacon(second)).toStrictEqual(started)
  const statuses = [await activate(second), await activate(second), await activate(second)].map(
    ({ status }) => status,
  )
  expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(1)
  expect(statuses.at(-1)).toBe(429)
})

/** Servers share what they have admitted twice a second: a kill loses that much, and one call is tolerated here. */
async function untilShared(databaseUrl: string): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  const spent = `select from limits.buckets
    where key like 'clientActivate:%' and tat > extract(epoch from now() + interval '9 minutes') * 1000`
  await expect.poll(async () => (await db.query(spent)).rowCount).toBe(1)
  await db.end()
}
