/**
 * Guarantee: a product's page shows how many installations use it without a license, and when a machine hash does
 * not identify machines.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { type App, appOf, sdkKeyOf } from '../http/apps.ts'
import { makeProduct } from '../http/samples.ts'
import { type Client, clientOf } from './client.ts'
import { makeMember } from './members.ts'

let api: TestApi
let client: Client
let app: App
beforeAll(async () => {
  api = await openTestApi()
  const { tenantId, token } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  app = appOf(api.ask, { tenantId, productId: 'editor' }, await sdkKeyOf(api.ledger, tenantId))
  client = clientOf(api.app, '192.0.2.1')
  await client.signIn(await makeMember(api.ledger, tenantId, 'owner'))
})
afterAll(() => api.close())

/** The facts about installations. */
async function shown(): Promise<string> {
  await api.ledger.ports.installs.flush()
  const { text } = await client.get('/dashboard/products/editor')
  const part = /<h2>Unlicensed installs<\/h2>.*?<\/section>/s.exec(text)?.[0] ?? ''
  return part.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
}

test('installations by their last report', async () => {
  expect(await shown()).toContain('On trial 0 On the free tier 0 Trial expired 0')
  await app.post('keyless', { instance_id: 'one', state: 'trial' })
  await app.post('free-tier', { instance_id: 'two' })
  await app.post('free-tier', { instance_id: 'three' })
  expect(await shown()).toContain('On trial 1 On the free tier 2 Trial expired 0')
  await app.post('keyless', { instance_id: 'one', state: 'expired' })
  expect(await shown()).toContain('On trial 0 On the free tier 2 Trial expired 1')
})

test('machine hashes that too many installations share', async () => {
  expect(await shown()).not.toContain('Unattributed')
  for (let install = 0; install <= 20; install++) {
    await app.post('keyless', { instance_id: `crowd ${install}`, machine_hash: 'one-machine-hash' })
  }
  expect(await shown()).toContain('Unattributed 1 machine with more than 20 installs each')
})
