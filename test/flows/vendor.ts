import { z } from 'zod'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { revealSdkKey } from '../../src/commands/client-keys.ts'
import type { Origin } from '../../src/commands/origin.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { parseConfig } from '../../src/config.ts'
import { resellerScopes, type Scope } from '../../src/domain/tokens/events.ts'
import type { Environment } from '../harness/process.ts'

export type Answer = { status: number; body: Record<string, unknown> }
export type Minted = { licenseId: string; licenseKey: string }

const MintAnswer = z.object({ license: z.object({ id: z.string() }), licenseKey: z.string() })
const Body = z.record(z.string(), z.unknown())

export const tenantId = 'acme'
export const productId = 'editor'
const scopes: readonly Scope[] = [
  'products:read',
  'products:write',
  'customers:read',
  'customers:write',
  'licenses:read',
  'licenses:write',
  'licenses:runtime',
  'integrations:read',
  'integrations:write',
  'danger',
]
const origin: Origin = { requestId: 'req_test', actor: 'operator:test' }

/** A tenant with a token of all scopes, created in this process as the operator commands create them. */
export async function createVendor(environment: Environment, ofTenant = tenantId): Promise<string> {
  const { ports, close } = await openStores(parseConfig(environment), createLog('silent'))
  try {
    await createTenant(ports, { tenantId: ofTenant, name: ofTenant, plan: 'unlimited' }, origin)
    const asked = { tenantId: ofTenant, name: 'test', scopes, expiresAt: null }
    return (await createToken(ports, asked, origin)).token
  } finally {
    await close()
  }
}

/** A token of a reseller of the tenant, created likewise. */
export async function createResellerToken(environment: Environment, resellerId: string): Promise<string> {
  const { ports, close } = await openStores(parseConfig(environment), createLog('silent'))
  try {
    const asked = { tenantId, name: 'reseller', scopes: resellerScopes, expiresAt: null, resellerId }
    return (await createToken(ports, asked, origin)).token
  } finally {
    await close()
  }
}

/** The SDK key of the tenant, created likewise. */
export async function createSdkKey(environment: Environment): Promise<string> {
  const { ports, close } = await openStores(parseConfig(environment), createLog('silent'))
  try {
    return await revealSdkKey(ports, tenantId, 'sdk-key-of-a-test', origin)
  } finally {
    await close()
  }
}

type Headers = Readonly<Record<string, string>>
type Send = (method: string, path: string, body?: object, headers?: Headers) => Promise<Answer>

/**
 * The requests of a vendor's server. It never repeats a request: a broken connection is an error.
 * @param sdkKey for requests of the vendor's apps as well
 */
export const client = (address: string, token: string, sdkKey?: string) =>
  clientThat(async (method, path, body, headers) => {
    const response = await fetch(address + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(sdkKey !== undefined && { 'x-service-sdk-key': sdkKey }),
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: Body.parse(await response.json()) }
  })

/** The same of a server with a way of its own to send them. */
export function clientThat(send: Send) {
  const runtime = (call: string, licenseKey: string, deviceId: string) =>
    send('POST', `/v1/licenses/${call}`, {
      product_id: productId,
      license_key: licenseKey,
      device_id: deviceId,
    })
  return {
    send,
    async createProduct(deviceLimit: number) {
      const keyTypes = [{ keyTypeId: 'pro', name: 'Pro', deviceLimit, entitlements: ['pro'] }]
      const { status, body } = await send('POST', '/v1/products', { productId, name: 'Editor', keyTypes })
      if (status !== 201) throw new Error(`no product: ${JSON.stringify(body)}`)
    },
    async mint(more: object = {}): Promise<Minted> {
      const { status, body } = await send('POST', '/v1/licenses', { productId, ...more })
      if (status !== 201) throw new Error(`no license: ${status} ${JSON.stringify(body)}`)
      const { license, licenseKey } = MintAnswer.parse(body)
      return { licenseId: license.id, licenseKey }
    },
    activate: (licenseKey: string, deviceId: string) => runtime('activate', licenseKey, deviceId),
    validate: (licenseKey: string, deviceId: string) => runtime('validate', licenseKey, deviceId),
    deactivate: (licenseKey: string, deviceId: string) => runtime('deactivate', licenseKey, deviceId),
  }
}

export type Client = ReturnType<typeof client>
