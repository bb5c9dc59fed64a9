import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type EventStore, openEventStore } from '../../infra/local/eventstore/engine/event-store.ts'
import type { ProposedEvent } from '../../infra/local/eventstore/storage/event.ts'
import { keyHashOf } from '../../src/credentials/license-key.ts'
import { sha256 } from '../../src/credentials/sha256.ts'
import { newToken } from '../../src/credentials/token.ts'
import type { DomainEvent } from '../../src/domain/events.ts'
import { defaultSettings } from '../../src/domain/products/product.ts'

export const tenantId = 'bench'
export const productId = 'bench-app'
export const deviceId = 'device-1'
const at = '2026-01-01T00:00:00.000Z'

/** Imported keys may have any form; these are derived from a number, so that every process can compute them. */
export const keyOf = (license: number): string => `bench license number ${license}`

/** The instance id with which an app of the license validates. */
export const instanceOf = (license: number): string => `ins_${license}`

/** The tenant of a license. */
export const tenantOf = (license: number, tenants: number): string =>
  tenants === 1 ? tenantId : `${tenantId}-${license % tenants}`

/** The SDK key of a tenant, derived from its name. */
export const sdkKeyOf = (tenant: string): string =>
  newToken('sdk', (size) => createHash('shake256', { outputLength: size }).update(tenant).digest()).token

/**
 * Writes tenants, each with a product, and a token of the first, directly through the store's engine, because
 * filling is not measured.
 */
export async function fillTenants(dataDirectory: string, tenants: number, tokenHash: string): Promise<void> {
  const store = await openEventStore(join(dataDirectory, 'eventstore'))
  for (let tenant = 0; tenant < tenants; tenant++) {
    await fillTenant(store, tenantOf(tenant, tenants))
  }
  await store.append('token-tok_bench', 'no_stream', [
    proposed({
      type: 'TokenCreated',
      data: {
        tokenId: 'tok_bench',
        tenantId: tenantOf(0, tenants),
        name: 'bench',
        tokenHash,
        scopes: ['danger', 'licenses:runtime', 'licenses:write', 'licenses:read'],
        expiresAt: null,
        at,
      },
    }),
  ])
  store.close()
}

async function fillTenant(store: EventStore, tenantId: string): Promise<void> {
  await store.append(`tenant-${tenantId}`, 'no_stream', [
    proposed({ type: 'TenantCreated', data: { tenantId, name: 'Bench', plan: 'unlimited', at } }),
    proposed({
      type: 'SdkKeyIssued',
      data: { keyHash: sha256(sdkKeyOf(tenantId)), displayKey: 'kl_sdk_…', operationId: 'req_bench', at },
    }),
  ])
  const keyType = {
    keyTypeId: 'default',
    name: 'Default',
    deviceLimit: 5,
    duration: null,
    onExpiry: 'expire',
    entitlements: ['export', 'sync'],
    fallbackEntitlements: [],
    price: null,
    sellInMultiples: false,
    maxQuantity: null,
  } as const
  // With a trial length, so that the settings are signed.
  const settings = { ...defaultSettings, trialDurationDays: 14 }
  await store.append(`product-${tenantId}.${productId}`, 'no_stream', [
    proposed({
      type: 'ProductCreated',
      data: { tenantId, productId, name: 'Bench', keyPrefix: 'BENCH', settings, at },
    }),
    proposed({
      type: 'KeyTypeAdded',
      data: {
        keyType: { ...keyType, entitlements: [...keyType.entitlements], fallbackEntitlements: [] },
        at,
      },
    }),
  ])
}

/**
 * Licenses `from` to `to` (exclusive), each minted and with one device: two events per license. With
 * `secondDevices`, every other license has a second device: 2.5 events per license.
 */
export async function fillLicenses(
  dataDirectory: string,
  from: number,
  to: number,
  {
    tenants = 1,
    expiresAt = null,
    secondDevices = false,
    onFilled = () => undefined,
  }: {
    tenants?: number
    expiresAt?: string | null
    secondDevices?: boolean
    onFilled?: (licenses: number) => void
  } = {},
): Promise<void> {
  const store = await openEventStore(join(dataDirectory, 'eventstore'))
  for (let start = from; start < to; start += 500) {
    const batch = Array.from({ length: Math.min(500, to - start) }, (_, index) => start + index)
    await Promise.all(
      batch.map((license) => {
        const life = lifeOf(license, tenantOf(license, tenants), expiresAt)
        if (secondDevices && license % 2 === 0) life.push(activated(license, 1))
        return store.append(streamOf(license), 'no_stream', life)
      }),
    )
    onFilled(start + batch.length)
  }
  store.close()
}

/** A license with `events` events in its stream, whose devices were alternately activated and deactivated. */
export async function fillLongHistory(
  dataDirectory: string,
  license: number,
  events: number,
  devices = 1,
): Promise<void> {
  const store = await openEventStore(join(dataDirectory, 'eventstore'))
  await store.append(streamOf(license), 'no_stream', lifeOf(license).slice(0, 1))
  for (let revision = 0; revision < events - 1; revision += 100) {
    const changes = Array.from({ length: Math.min(100, events - 1 - revision) }, (_, index) => {
      const device = Math.floor((revision + index) / 2) % devices
      return index % 2 === 0 ? activated(license, device) : deactivated(license, device)
    })
    await store.append(streamOf(license), revision, changes)
  }
  store.close()
}

export const idOf = (license: number): string => `lic_${String(license).padStart(26, '0')}`
const streamOf = (license: number): string => `license-${idOf(license)}`

function lifeOf(license: number, tenant = tenantId, expiresAt: string | null = null): ProposedEvent[] {
  const terms = {
    licenseId: idOf(license),
    tenantId: tenant,
    productId,
    keyTypeId: 'default',
    keyHash: keyHashOf(keyOf(license)) ?? '',
    displayKey: 'BENCH…0000',
    quantity: 1,
    deviceLimit: 5,
    expiresAt,
    onExpiry: 'expire',
    holder: null,
    customerId: null,
    source: 'api',
    saleId: null,
    test: false,
    metadata: {},
    createdAt: new Date(Date.parse(at) + license).toISOString(),
    at,
  } as const
  return [proposed({ type: 'LicenseMinted', data: { ...terms, metadata: {} } }), activated(license)]
}

/** Validates use the first device of a license. */
const deviceOf = (license: number, device: number) =>
  device === 0
    ? { deviceId, instanceId: instanceOf(license) }
    : { deviceId: `${deviceId}-${device}`, instanceId: `${instanceOf(license)}_${device}` }

const activated = (license: number, device = 0): ProposedEvent =>
  proposed({
    type: 'DeviceActivated',
    data: { ...deviceOf(license, device), installId: null, name: 'Device', platform: null, at },
  })

const deactivated = (license: number, device = 0): ProposedEvent =>
  proposed({ type: 'DeviceDeactivated', data: { ...deviceOf(license, device), at } })

function proposed({ type, data }: DomainEvent): ProposedEvent {
  const requestId = `req_${createHash('sha1').update(type).digest('hex').slice(0, 26)}`
  const cause = { requestId, causationId: requestId, correlationId: requestId, actor: 'system:bench' }
  return {
    id: randomUUID(),
    type,
    isJson: true,
    metadata: Buffer.from(JSON.stringify({ ...cause, at, schema: 1 })),
    data: Buffer.from(JSON.stringify(data)),
  }
}
