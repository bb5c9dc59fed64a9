import type { LicenseCommand } from '../../../src/domain/licenses/license.ts'
import type { ChainHead } from '../../../src/domain/licenses/relay-events.ts'
import type { RelayRequest } from '../../../src/domain/licenses/relays.ts'
import type { FloatingSeats } from '../../../src/domain/products/key-type.ts'
import { at, type DeviceId, device, later, minted } from './license-samples.ts'

export const floating: FloatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device' }
export const team = minted({ deviceLimit: 5, expiresAt: null, floating })
export const day = 86_400
export const secondsAfter = (seconds: number, moment = at) =>
  new Date(Date.parse(moment) + seconds * 1000).toISOString()

export const head = (length: number, chain = 'a'): ChainHead => ({
  length,
  hash: length === 0 ? '0'.repeat(64) : chain.repeat(63) + (length % 10),
})
const asks = (own: Partial<RelayRequest> = {}): RelayRequest => ({
  relayId: null,
  publicKey: 'key',
  nonce: 'nonce-1',
  counter: 1,
  name: 'Farm',
  seats: 3,
  heads: [head(0)],
  ...own,
})
export const certify = (
  own: Partial<RelayRequest> = {},
  more: Partial<Extract<LicenseCommand, { type: 'CertifyRelay' }>> = {},
): LicenseCommand => ({
  type: 'CertifyRelay',
  newId: 'rel_1',
  request: asks(own),
  seconds: 30 * day,
  at,
  ...more,
})
export const release = (heads: RelayRequest['heads'], moment = later, relayId = 'rel_1'): LicenseCommand => ({
  type: 'ReleaseRelay',
  release: { relayId, publicKey: 'key', heads },
  at: moment,
})

export const take = (deviceId: DeviceId, moment: string): LicenseCommand => ({
  type: 'ActivateDevice',
  ...device(deviceId),
  at: moment,
})
