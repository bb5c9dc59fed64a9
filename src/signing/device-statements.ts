import { z } from 'zod'
import { ComponentsOfApp, HashOfApp } from '../domain/licenses/marks.ts'
import type { SaidOfMachine } from '../vault/device-hashing.ts'
import { type Place, readStatement } from './own-statements.ts'

/** The most characters of a request or release: with every component, one has about 1,500. */
export const maxStatementLength = 8000

/** Unknown claims are ignored, because apps of all versions say what they know. */
const RequestClaims = z
  .object({
    nonce: z.string().regex(/^[A-Za-z0-9_-]{16,64}$/),
    counter: z.int().min(1),
    license_key_hash: z.string().regex(/^[0-9a-f]{64}$/),
    instance_name: z.string().min(1).max(200),
    instance_id: z.string().min(1).max(256).optional(),
    free_tier_instance_id: z.string().min(1).max(128).optional(),
    device: z.object({
      machine_hash: HashOfApp.nullish(),
      components: ComponentsOfApp.default({}),
    }),
  })
  .refine(({ device }) => device.machine_hash || Object.keys(device.components).length > 0)

const ReleaseClaims = z.object({
  instance_id: z.string().min(1).max(256),
  serial: z.int().min(1),
  fence: z.int().min(1).optional(),
})

/** What a device without a network asks for, signed by its own key. */
export type DeviceRequest = {
  /** The raw public key, base64url. */
  deviceKey: string
  nonce: string
  counter: number
  keyHash: string
  name: string
  instanceId: string | null
  installId: string | null
  said: SaidOfMachine
}

/** That a device gives its license file back, signed by the key that the file was made for. */
export type DeviceRelease = {
  deviceKey: string
  instanceId: string
  serial: number
  /** Of the floating seat that it borrowed; null for another. */
  fence: number | null
}

/** @returns undefined for a text that is no request, or that was not signed for this product by the key in it */
export function readRequest(text: string, place: Place): DeviceRequest | undefined {
  const read = readStatement('REQUEST', text, place, RequestClaims)
  if (!read) return undefined
  const { claims, publicKey: deviceKey } = read
  const { device, nonce, counter } = claims
  return {
    deviceKey,
    nonce,
    counter,
    keyHash: claims.license_key_hash,
    name: claims.instance_name,
    instanceId: claims.instance_id ?? null,
    installId: claims.free_tier_instance_id ?? null,
    said: { machineHash: device.machine_hash ?? null, components: device.components },
  }
}

/** @returns undefined for a text that is no release, or that was not signed for this product by the key in it */
export function readRelease(text: string, place: Place): DeviceRelease | undefined {
  const read = readStatement('RELEASE', text, place, ReleaseClaims)
  if (!read) return undefined
  const { instance_id: instanceId, serial, fence = null } = read.claims
  return { deviceKey: read.publicKey, instanceId, serial, fence }
}
