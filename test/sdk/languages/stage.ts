import { setTimeout as sleep } from 'node:timers/promises'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { sdkKeyOf } from '../../http/apps.ts'
import { makeProduct } from '../../http/samples.ts'
import { openPortalOf } from '../../portal/customer.ts'
import { type BadNetwork, startBadNetwork } from '../bad-network.ts'

/** The server of the stories, and a network to it for each of two clients, so that neither gets the other's old answers. */
export type Stage = {
  api: TestApi
  tenant: TestTenant
  sdkKey: string
  network: BadNetwork
  second: BadNetwork
}

const ends = { duration: { count: 30, unit: 'day' } }
const floatingSeats = {
  seatSeconds: 600,
  overdraft: null,
  scope: 'device',
  maxBorrowDays: 20,
  maxBorrowed: 1,
}
const offlineFiles = { maxDays: 30, perSeatPerYear: 4 }

const keyTypes = [
  { name: 'Pro', keyTypeId: 'pro', deviceLimit: 2, entitlements: ['pro'] },
  {
    ...{ name: 'Studio', keyTypeId: 'studio', deviceLimit: 2 },
    entitlements: ['export', 'seats'],
    entitlementValues: { seats: 25 },
  },
  { name: 'One', keyTypeId: 'one', deviceLimit: 1, entitlements: ['export'] },
  { name: 'Month', keyTypeId: 'month', deviceLimit: 1, entitlements: ['export'], ...ends },
  {
    ...{ name: 'Fallback', keyTypeId: 'fallback', deviceLimit: 1, onExpiry: 'fallback', ...ends },
    ...{ entitlements: ['export'], fallbackEntitlements: ['view'] },
  },
  { name: 'Yearly', keyTypeId: 'yearly', deviceLimit: 1, updates: { count: 1, unit: 'year' } },
  { name: 'Mill', keyTypeId: 'mill', deviceLimit: 1, offlineFiles },
  { name: 'Team', keyTypeId: 'team', deviceLimit: 1, seatPolicy: 'floating', floatingSeats },
]

/** Opens a server with the products of the stories: one with a trial, and one that is free without a license. */
export async function openStage(): Promise<Stage> {
  const api = await openTestApi()
  const tenant = await makeTenant(api.ledger)
  const sdkKey = await sdkKeyOf(api.ledger, tenant.tenantId)
  await openPortalOf(api.app, tenant.token)
  await makeProduct(api.ask, tenant.token, 'editor', { trialDurationDays: 14, keyRecovery: true, keyTypes })
  await makeProduct(api.ask, tenant.token, 'viewer', { freeTierEnabled: true, keyTypes })
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  const open = () => startBadNetwork(address, (ms) => sleep(ms))
  return { api, tenant, sdkKey, network: await open(), second: await open() }
}

/** Closes what {@link openStage} has opened. */
export async function closeStage({ network, second, api }: Stage): Promise<void> {
  await network.close()
  await second.close()
  await api.close()
}
