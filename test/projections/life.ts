import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import type { LoginRequest } from '../../src/access/login-requests.ts'
import { activateDevice, deactivateDevice } from '../../src/commands/devices.ts'
import { mintLicense, revokeLicense } from '../../src/commands/licenses.ts'
import { approveLogin, denyLogin } from '../../src/commands/logins.ts'
import { addMember, changeRole, issueLink, removeMember } from '../../src/commands/members.ts'
import { addKeyType, changeKeyType, changeProduct, createProduct } from '../../src/commands/products.ts'
import { createTenant, reinstateTenant, suspendTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { keyHashOf, newLicenseKey } from '../../src/credentials/license-key.ts'
import { defaultKeyType } from '../../src/domain/product/key-type.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { commandLicense, origin, type TestLedger, uniqueId } from '../harness/ledger.ts'

/** Something that somebody does. Licenses and devices are picked by number from those that there are. */
export type Step =
  | { do: 'mint'; keyType: number; seats: number | null; person: boolean }
  | { do: 'activate' | 'deactivate'; license: number; device: number }
  | { do: 'remint'; license: number; keepDevices: boolean }
  | { do: 'revoke' | 'renew' | 'end'; license: number }
  | { do: 'change product'; trial: number | null }
  | { do: 'add key type' | 'change key type'; keyType: number; entitlement: string }
  | { do: 'suspend' | 'reinstate' | 'create token' | 'add member' }
  | { do: 'change role' | 'issue link' | 'remove member' | 'sign in a program' | 'refuse a program' }
  | { do: 'wait'; days: number }

const license = fc.nat({ max: 3 })
const keyType = fc.nat({ max: 2 })

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('mint' as const),
      keyType,
      seats: fc.option(fc.integer({ min: 1, max: 3 })),
      person: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('activate' as const, 'activate' as const, 'deactivate' as const),
      license,
      device: fc.nat({ max: 3 }),
    }),
  },
  fc.record({ do: fc.constant('remint' as const), license, keepDevices: fc.boolean() }),
  fc.record({ do: fc.constantFrom('revoke' as const, 'renew' as const, 'end' as const), license }),
  fc.record({ do: fc.constant('change product' as const), trial: fc.option(fc.nat({ max: 9 })) }),
  fc.record({
    do: fc.constantFrom('add key type' as const, 'change key type' as const),
    keyType,
    entitlement: fc.constantFrom('a', 'b', 'c:d'),
  }),
  fc.record({
    do: fc.constantFrom(
      'suspend' as const,
      'reinstate' as const,
      'create token' as const,
      'add member' as const,
    ),
  }),
  fc.record({
    do: fc.constantFrom(
      'change role' as const,
      'issue link' as const,
      'remove member' as const,
      'sign in a program' as const,
      'refuse a program' as const,
    ),
  }),
  fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 0, max: 20 }) }),
)

const granted = { scopes: ['licenses:read'], tokenExpiresAt: null } as const

const program = (at: string): LoginRequest => ({
  deviceCodeHash: randomBytes(32).toString('hex'),
  clientName: 'keyledger on build-1',
  scopes: ['licenses:read', 'danger'],
  address: '192.0.2.1',
  createdAt: at,
  expiresAt: at,
})

export type Life = {
  tenantId: string
  licenses: { id: string; licenseKey: string }[]
  /** What the rules do not allow is refused and leaves nothing. */
  live(step: Step): Promise<void>
}

const productId = 'editor'
const day = 86_400_000

export async function beginLife(ledger: TestLedger): Promise<Life> {
  const { services, clock } = ledger
  const tenantId = uniqueId('life')
  const plan = 'unlimited'
  await createTenant(services, { tenantId, name: 'A life', plan }, origin)
  const product = await createProduct(
    services,
    {
      tenantId,
      plan,
      productId,
      name: 'Editor',
      keyPrefix: 'ED',
      settings: {},
      keyTypes: [
        { ...defaultKeyType, duration: { count: 10, unit: 'day' } },
        {
          ...defaultKeyType,
          keyTypeId: 'type-1',
          duration: { count: 1, unit: 'month' },
          onExpiry: 'fallback',
        },
      ],
    },
    origin,
  )
  const licenses: Life['licenses'] = []
  let memberId = ''
  const decider = () => ({ memberId: memberId || 'mem_nobody', tenantId, role: 'owner' }) as const
  const picked = (index: number) => licenses[index % licenses.length]

  async function seat(step: Extract<Step, { do: 'activate' | 'deactivate' }>): Promise<void> {
    const keyHash = keyHashOf(picked(step.license)?.licenseKey ?? '')
    if (keyHash === undefined) return
    const question = { tenantId, productId, keyHash, deviceId: `device-${step.device}` }
    const found = await services.findForRuntime(question)
    if (found.found !== 'license') return
    if (step.do === 'activate') {
      await activateDevice(services, found, question, { name: 'A device', plan }, origin)
    } else await deactivateDevice(services, found, question, origin)
  }

  async function mint(step: Extract<Step, { do: 'mint' }>): Promise<void> {
    const asked = {
      keyTypeId: step.keyType === 0 ? undefined : `type-${step.keyType}`,
      ...(step.seats !== null && { deviceLimit: step.seats }),
      ...(step.person && { email: `${tenantId}@example.com`, name: 'Ada' }),
      metadata: { odd: '"\\ {} é 💻' },
    }
    const minted = await mintLicense(services, product, asked, origin)
    licenses.push({ id: minted.license.licenseId, licenseKey: minted.licenseKey })
  }

  async function change(step: Step): Promise<unknown> {
    const at = clock.now().toISOString()
    const target = 'license' in step ? picked(step.license) : undefined
    if ('license' in step && target === undefined) return
    const id = target?.id ?? ''
    switch (step.do) {
      case 'mint':
        return mint(step)
      case 'activate':
      case 'deactivate':
        return seat(step)
      case 'remint': {
        const { licenseKey, keyHash, displayKey } = newLicenseKey('ED', randomBytes)
        const { keepDevices } = step
        await commandLicense(ledger, id, { type: 'RemintLicense', keyHash, displayKey, keepDevices, at })
        if (target) target.licenseKey = licenseKey
        return undefined
      }
      case 'revoke':
        return revokeLicense(services, tenantId, id, 'because', origin)
      case 'renew': {
        const expiresAt = new Date(clock.now().getTime() + 30 * day).toISOString()
        return commandLicense(ledger, id, { type: 'RenewLicense', expiresAt, at })
      }
      case 'end':
        return commandLicense(ledger, id, { type: 'EndPaidPeriod', at })
      case 'change product':
        return changeProduct(
          services,
          tenantId,
          productId,
          { settings: { trialDurationDays: step.trial } },
          origin,
        )
      case 'add key type': {
        const added = {
          ...defaultKeyType,
          keyTypeId: `type-${step.keyType}`,
          entitlements: [step.entitlement],
        }
        return addKeyType(services, tenantId, productId, added, origin)
      }
      case 'change key type': {
        const entitlements = [step.entitlement]
        return changeKeyType(services, tenantId, productId, `type-${step.keyType}`, { entitlements }, origin)
      }
      case 'suspend':
        return suspendTenant(services, tenantId, null, origin)
      case 'reinstate':
        return reinstateTenant(services, tenantId, origin)
      case 'create token':
        return createToken(services, { tenantId, name: 'CI', scopes: ['danger'], expiresAt: null }, origin)
      case 'add member':
        memberId = await addMember(services, { tenantId, role: 'support', email: 'ada@example.com' }, origin)
        return memberId
      case 'change role':
        return changeRole(services, tenantId, memberId, 'auditor', origin)
      case 'issue link':
        return issueLink(services, tenantId, memberId, 'invitation', origin)
      case 'remove member':
        return removeMember(services, tenantId, memberId, origin)
      case 'sign in a program':
        return approveLogin(services, program(at), decider(), granted, origin)
      case 'refuse a program':
        return denyLogin(services, program(at), decider(), origin)
      case 'wait':
        return clock.advance(step.days * day)
      default:
        throw new Error(`nobody can ${JSON.stringify(step satisfies never)}`)
    }
  }

  return {
    tenantId,
    licenses,
    async live(step) {
      try {
        await change(step)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
      }
    },
  }
}

/** One of everything, so that every type of event is there. */
export const fullLife: readonly Step[] = [
  { do: 'add member' },
  { do: 'change role' },
  { do: 'issue link' },
  { do: 'sign in a program' },
  { do: 'refuse a program' },
  { do: 'remove member' },
  { do: 'create token' },
  { do: 'mint', keyType: 0, seats: 2, person: true },
  { do: 'mint', keyType: 1, seats: null, person: false },
  { do: 'activate', license: 0, device: 0 },
  { do: 'activate', license: 0, device: 1 },
  { do: 'activate', license: 1, device: 0 },
  { do: 'deactivate', license: 0, device: 0 },
  { do: 'remint', license: 0, keepDevices: true },
  { do: 'remint', license: 0, keepDevices: false },
  { do: 'activate', license: 0, device: 0 },
  { do: 'change product', trial: 3 },
  { do: 'add key type', keyType: 2, entitlement: 'a' },
  { do: 'change key type', keyType: 2, entitlement: 'b' },
  { do: 'suspend' },
  { do: 'reinstate' },
  { do: 'wait', days: 60 },
  { do: 'end', license: 0 },
  { do: 'end', license: 1 },
  { do: 'renew', license: 0 },
  { do: 'revoke', license: 1 },
]
