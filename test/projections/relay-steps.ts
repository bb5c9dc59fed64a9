import { hash } from 'node:crypto'
import fc from 'fast-check'
import { findLicense } from '../../projections/licenses/queries.ts'
import type { LicenseTerms } from '../../src/domain/licenses/events.ts'
import { commandLicense, type TestLedger, uniqueId } from '../harness/ledger.ts'

/** A relay of the tenant's one license with floating seats asks, or gives its seats back; a copy has another chain. */
export type RelayStep = {
  do: 'certify relay' | 'release relay'
  relay: number
  seats: number
  isCopy: boolean
}

export const anyRelayStep: fc.Arbitrary<RelayStep> = fc.record({
  do: fc.constantFrom('certify relay' as const, 'certify relay' as const, 'release relay' as const),
  relay: fc.nat({ max: 2 }),
  seats: fc.integer({ min: 1, max: 3 }),
  isCopy: fc.boolean(),
})

export function relayStepRunner(ledger: TestLedger, tenantId: string, productId: string) {
  const { clock, db, ports } = ledger
  let floating: string | undefined
  let counter = 0

  async function mint(at: string): Promise<string> {
    const licenseId = ports.newId('lic')
    const terms: LicenseTerms = {
      ...{
        licenseId,
        tenantId,
        productId,
        keyTypeId: 'default',
        keyHash: hash('sha256', licenseId),
        displayKey: 'ACME…7777',
      },
      ...{ quantity: 1, deviceLimit: 5, expiresAt: null, onExpiry: 'expire', holder: null, customerId: null },
      ...{ source: 'api', saleId: null, test: false, metadata: {}, createdAt: at, at },
      floating: { seatSeconds: 600, overdraft: { seats: 1 }, scope: 'device' },
    }
    await commandLicense(ledger, licenseId, { type: 'MintLicense', terms })
    return licenseId
  }

  return async (step: RelayStep): Promise<unknown> => {
    const at = clock.now().toISOString()
    floating ??= await mint(at)
    const publicKey = `relay-${step.relay}`
    const found = await findLicense(db, tenantId, floating)
    const relay = found?.license.relays.findLast((each) => each.publicKey === publicKey)
    const isKnown = relay !== undefined && relay.releasedAt === null
    counter++
    const present = { length: counter, hash: counter.toString(16).padStart(64, '0') }
    const none = { length: 0, hash: '0'.repeat(64) }
    const heads = [isKnown && !step.isCopy ? relay.head : none, present] as const
    if (step.do === 'release relay') {
      const release = { relayId: relay?.relayId ?? 'rel_none', publicKey, heads }
      return commandLicense(ledger, floating, { type: 'ReleaseRelay', release, reason: null, at })
    }
    const said = { publicKey, nonce: uniqueId('nonce'), counter, name: 'Farm', seats: step.seats, heads }
    return commandLicense(ledger, floating, {
      type: 'CertifyRelay',
      newId: ports.newId('rel'),
      request: { relayId: isKnown ? relay.relayId : null, ...said },
      seconds: 30 * 86_400,
      reason: 'asked',
      at,
    })
  }
}

/** Every kind of step, so that the log has every type of event. */
export const everyRelayStep: readonly RelayStep[] = [
  { do: 'certify relay', relay: 0, seats: 2, isCopy: false },
  { do: 'certify relay', relay: 0, seats: 1, isCopy: false },
  { do: 'release relay', relay: 0, seats: 1, isCopy: false },
  { do: 'certify relay', relay: 1, seats: 2, isCopy: false },
  { do: 'certify relay', relay: 1, seats: 2, isCopy: false },
  { do: 'certify relay', relay: 1, seats: 2, isCopy: true },
]
