import { z } from 'zod'
import { rebuild } from '../../../projections/runner/rebuild.ts'
import { verify } from '../../../projections/runner/verify.ts'
import type { Stores } from '../../app/stores.ts'
import { operator } from '../../app/with-stores.ts'
import { revokeLicense } from '../../commands/licenses/licenses.ts'
import { createTenant } from '../../commands/tenants.ts'
import { createToken } from '../../commands/tokens.ts'
import { combinableScopes } from '../../domain/tokens/events.ts'
import { licenseDetail } from '../../http/licenses/detail.ts'
import { showProgress } from '../../terminal/progress.ts'
import { createNarrator, type Narrator } from './narrator.ts'

const tenantId = 'acme'
const productId = 'acme-editor'
const Minted = z.object({ licenseKey: z.string(), license: z.object({ id: z.string() }) })

/**
 * Takes one license from its product to its revocation through real requests, and then rebuilds it from the log.
 */
export async function runDemo(stores: Stores, address: string): Promise<void> {
  const { ports } = stores
  const origin = operator()
  await createTenant(ports, { tenantId, name: 'Acme', plan: 'unlimited' }, origin)
  const { token } = await createToken(
    ports,
    { tenantId, name: 'demo', scopes: combinableScopes, expiresAt: null },
    origin,
  )
  const narrator = createNarrator(ports, address, token)
  narrator.say(`A new ledger at ${address} with a tenant and a token.`)
  await narrator.events()

  const license = await mint(narrator)
  await useDevices(narrator, license.key)

  narrator.heading('Revoke the license, as the operator of the host')
  narrator.say(`   keyledger licenses revoke ${license.id} --tenant ${tenantId} --reason 'payment disputed'`)
  await revokeLicense(ports, tenantId, license.id, 'payment disputed', origin)
  await narrator.events()

  narrator.heading('Validate again: not valid as soon as the revocation was acknowledged')
  await narrator.request('POST', '/v1/licenses/validate', { ...runtime(license.key), device_id: 'desktop' })

  await proveFromLog(stores, narrator, license.id)
}

const runtime = (licenseKey: string) => ({ product_id: productId, license_key: licenseKey })

async function mint(narrator: Narrator): Promise<{ id: string; key: string }> {
  narrator.heading('Define a product')
  await narrator.request('POST', '/v1/products', { name: 'Acme Editor', keyPrefix: 'ACME' })

  narrator.heading('Add a key type: two devices, one year')
  await narrator.request('POST', `/v1/products/${productId}/key-types`, {
    name: 'Pro',
    deviceLimit: 2,
    duration: { count: 1, unit: 'year' },
    entitlements: ['export', 'sync'],
  })

  narrator.heading('Mint a license: its key is shown only in this response')
  const answer = await narrator.request('POST', '/v1/licenses', {
    productId,
    keyTypeId: 'pro',
    email: 'ada@example.com',
  })
  const { licenseKey, license } = Minted.parse(answer)
  return { id: license.id, key: licenseKey }
}

async function useDevices(narrator: Narrator, key: string): Promise<void> {
  const activate = (device_id: string, name: string) =>
    narrator.request('POST', '/v1/licenses/activate', { ...runtime(key), device_id, name })

  narrator.heading('Activate two devices')
  await activate('laptop', 'Laptop')
  await activate('desktop', 'Desktop')

  narrator.heading('A third device is refused: both seats are in use')
  await activate('tablet', 'Tablet')

  narrator.heading('Validate')
  await narrator.request('POST', '/v1/licenses/validate', { ...runtime(key), device_id: 'laptop' })

  narrator.heading('Deactivate the laptop: its seat is free again')
  await narrator.request('POST', '/v1/licenses/deactivate', { ...runtime(key), device_id: 'laptop' })
}

async function proveFromLog(stores: Stores, narrator: Narrator, licenseId: string): Promise<void> {
  const { ports, db } = stores
  narrator.heading('The history, as recorded in the log')
  await narrator.history(licenseId)

  narrator.heading('The license after its second activation, computed from the log')
  narrator.say(`   keyledger licenses show ${licenseId} --tenant ${tenantId} --as-of 2`)
  const past = await licenseDetail(ports, tenantId, licenseId, { sequence: 2 })
  narrator.say(`   ${past.status}, ${past.seatsUsed} of ${past.deviceLimit} seats in use`)

  narrator.heading('Rebuild all read models from the log, and compare the live tables with a replay')
  const progress = showProgress('Replaying')
  await rebuild(db, ports.ledger, { onParked: () => undefined, onProgress: progress.update })
  const { events, rows, differences } = await verify(db, ports.ledger, progress.update)
  progress.done()
  narrator.say(`   ${events} events replayed, ${rows} rows compared, ${differences.length} differences`)
}
