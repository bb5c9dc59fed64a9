import { hash } from 'node:crypto'
import fc from 'fast-check'
import type { LicenseTerms } from '../../src/domain/licenses/events.ts'
import { commandLicense, type TestLedger } from '../harness/ledger.ts'

/** What happens to the tenant's one license whose seats are of people. */
export type PersonSeatStep = {
  do: 'give seat' | 'take seat' | 'replace key' | 'use seat'
  person: number
}

export const anyPersonSeatStep: fc.Arbitrary<PersonSeatStep> = fc.record({
  do: fc.constantFrom(
    'give seat' as const,
    'take seat' as const,
    'replace key' as const,
    'use seat' as const,
  ),
  person: fc.nat({ max: 2 }),
})

export function personSeatStepRunner(ledger: TestLedger, tenantId: string, productId: string) {
  const { clock, ports } = ledger
  let license: string | undefined

  async function mint(at: string): Promise<string> {
    const licenseId = ports.newId('lic')
    const terms: LicenseTerms = {
      ...{ licenseId, tenantId, productId, keyTypeId: 'default' },
      ...{ keyHash: hash('sha256', licenseId), displayKey: 'ACME…7777' },
      ...{ quantity: 1, deviceLimit: 2, expiresAt: null, onExpiry: 'expire', holder: null, customerId: null },
      ...{ source: 'api', saleId: null, test: false, metadata: {}, createdAt: at, at },
      named: { devicesPerPerson: 2, reassignEveryDays: 5 },
    }
    await commandLicense(ledger, licenseId, { type: 'MintLicense', terms })
    return licenseId
  }

  return async ({ do: what, person }: PersonSeatStep): Promise<unknown> => {
    const at = clock.now().toISOString()
    license ??= await mint(at)
    const personId = `per_${tenantId}_${person}`
    const keyId = ports.newId('pky')
    const key = { keyId, keyHash: hash('sha256', keyId), displayKey: 'ACME…8888' }
    switch (what) {
      case 'give seat':
        return commandLicense(ledger, license, { type: 'AssignSeat', personId, key, isVendor: false, at })
      case 'take seat':
        return commandLicense(ledger, license, { type: 'UnassignSeat', personId, at })
      case 'replace key':
        return commandLicense(ledger, license, { type: 'ReplacePersonalKey', personId, key, at })
      case 'use seat': {
        const device = { instanceId: ports.newId('ins'), installId: null, name: 'A device', platform: null }
        const deviceId = `device-of-${person}`
        return commandLicense(ledger, license, { type: 'ActivateDevice', deviceId, ...device, personId, at })
      }
    }
  }
}

/** Every kind of step, so that the log has every type of event. */
export const everyPersonSeatStep: readonly PersonSeatStep[] = [
  { do: 'give seat', person: 0 },
  { do: 'use seat', person: 0 },
  { do: 'replace key', person: 0 },
  { do: 'give seat', person: 1 },
  { do: 'take seat', person: 0 },
]
