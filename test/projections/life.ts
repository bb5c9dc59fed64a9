import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { activateDevice, deactivateDevice } from '../../src/commands/devices/devices.ts'
import { mintLicense, revokeLicense as runRevocation } from '../../src/commands/licenses/licenses.ts'
import { addMember } from '../../src/commands/members/members.ts'
import { causeOf } from '../../src/commands/origin.ts'
import { deleteKeyType } from '../../src/commands/products/delete-key-type.ts'
import {
  addKeyType,
  changeKeyType,
  changeProduct,
  createProduct,
} from '../../src/commands/products/products.ts'
import { rotateSigningKey } from '../../src/commands/signing-keys.ts'
import {
  changeApprovalRule,
  createTenant,
  reinstateTenant,
  suspendTenant,
} from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import { newId } from '../../src/credentials/id.ts'
import { keyHashOf, newLicenseKey } from '../../src/credentials/license-key.ts'
import { defaultKeyType } from '../../src/domain/products/key-type.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { approve, deny, withdraw } from '../../src/gate/approvals.ts'
import { revokeLicense } from '../../src/gate/operations/revoke-license.ts'
import { passGate } from '../../src/gate/pass.ts'
import { identify } from '../../src/ledger/identity.ts'
import { commandLicense, origin, type TestLedger, uniqueId } from '../harness/ledger.ts'
import { anyCustomerStep, type CustomerStep, customersLife, liveAsCustomers } from './life-of-customers.ts'
import { anyDeliveryStep, type DeliveryStep, deliveriesLife, liveAsDeliveries } from './life-of-deliveries.ts'
import { anyInstallStep, type InstallStep, installsLife, liveAsInstalls } from './life-of-installs.ts'
import { anyMemberStep, liveAsMembers, type MemberStep, membersLife } from './life-of-members.ts'
import { anySellingStep, type SellingStep, sell } from './selling.ts'

type Decision = 'approve' | 'deny' | 'withdraw' | 'none'

/** Something that somebody does. Licenses and devices are picked by number from those that there are. */
export type Step =
  | CustomerStep
  | MemberStep
  | InstallStep
  | DeliveryStep
  | { do: 'mint'; keyType: number; seats: number | null; person: boolean }
  | { do: 'activate' | 'deactivate'; license: number; device: number }
  | { do: 'remint'; license: number; keepDevices: boolean }
  | { do: 'revoke' | 'renew' | 'end'; license: number }
  | { do: 'change product'; trial: number | null }
  | { do: 'add key type' | 'change key type'; keyType: number; entitlement: string }
  | { do: 'suspend' | 'reinstate' | 'create token' | 'add member' | 'delete key type' | 'rotate signing key' }
  | { do: 'ask for a revocation'; license: number; decision: Decision }
  | SellingStep
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
      'delete key type' as const,
      'rotate signing key' as const,
    ),
  }),
  { weight: 4, arbitrary: anyCustomerStep },
  { weight: 2, arbitrary: anyMemberStep },
  { weight: 2, arbitrary: anyInstallStep },
  { weight: 2, arbitrary: anyDeliveryStep },
  { weight: 6, arbitrary: anySellingStep },
  fc.record({
    do: fc.constant('ask for a revocation' as const),
    license,
    decision: fc.constantFrom<Decision[]>('approve', 'deny', 'withdraw', 'none'),
  }),
  fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 0, max: 20 }) }),
)

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
  // As the first start on a log does.
  await identify(services.ledger, causeOf(origin, clock.now().toISOString()))
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
  const liveCustomers = liveAsCustomers(ledger, tenantId, productId)
  const liveMembers = liveAsMembers(ledger, tenantId)
  const liveDeliveries = liveAsDeliveries(ledger, tenantId)
  const liveInstalls = liveAsInstalls(ledger, tenantId, productId)
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

  async function askForRevocation(id: string, decision: Decision): Promise<void> {
    const call = {
      tenantId,
      tokenId: 'tok_1',
      client: { address: '::1', userAgent: null },
      request: { parameters: { id }, query: {}, body: null },
      origin,
      confirmationId: undefined,
    }
    const asked = await passGate(services, revokeLicense, call)
    if (asked.passed || decision === 'none') return
    const { confirmationId } = asked.confirmation
    const by = { ...origin, actor: 'operator:test' }
    if (decision === 'deny') return deny(services, tenantId, confirmationId, by)
    await approve(services, tenantId, confirmationId, by)
    if (decision === 'withdraw') return withdraw(services, tenantId, confirmationId, by)
    await passGate(services, revokeLicense, { ...call, confirmationId })
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
        return runRevocation(services, tenantId, id, 'because', origin)
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
      case 'delete key type': {
        const keyType = { tenantId, productId, keyTypeId: 'type-2' }
        return deleteKeyType(services, keyType, { ...origin, requestId: newId('req') })
      }
      case 'ask for a revocation':
        return askForRevocation(id, step.decision)
      case 'rotate signing key':
        return rotateSigningKey(services, tenantId, origin)
      case 'suspend':
        return suspendTenant(services, tenantId, null, origin)
      case 'reinstate':
        await changeApprovalRule(services, tenantId, true, origin)
        return reinstateTenant(services, tenantId, origin)
      case 'create token':
        return createToken(services, { tenantId, name: 'CI', scopes: ['danger'], expiresAt: null }, origin)
      case 'add member':
        return addMember(services, { tenantId, role: 'support', email: 'ada@example.com' }, origin)
      case 'sell':
      case 'map':
      case 'rotate':
      case 'stop selling':
      case 'buy for a test':
      case 'sold':
      case 'sold to nobody':
      case 'refunded':
      case 'renewed':
      case 'told of a stranger':
      case 'write to customers':
      case 'test mode':
      case 'end test mode':
        return sell(ledger, { tenantId, productId }, step)
      case 'wait':
        return clock.advance(step.days * day)
      case 'admit':
      case 'change role':
      case 'issue link':
      case 'remove member':
      case 'sign in a program':
      case 'refuse a program':
        return liveMembers(step)
      case 'report':
      case 'crowd a machine':
        return liveInstalls(step)
      case 'buy':
      case 'schedule what is pending':
      case 'try to deliver':
      case 'deliver again':
        return liveDeliveries(step)
      default:
        return liveCustomers(step, id)
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
  ...customersLife,
  ...membersLife,
  ...installsLife,
  ...deliveriesLife,
  { do: 'add key type', keyType: 2, entitlement: 'a' },
  { do: 'change key type', keyType: 2, entitlement: 'b' },
  { do: 'sell', through: 'gumroad' },
  { do: 'sell', through: 'paddle' },
  { do: 'sell', through: 'stripe' },
  { do: 'map' },
  { do: 'rotate' },
  { do: 'buy for a test' },
  { do: 'refunded', sale: 0 },
  { do: 'write to customers', subject: 'Your key' },
  { do: 'sold', sale: 0 },
  { do: 'sold', sale: 0 },
  { do: 'renewed', sale: 0 },
  { do: 'sold to nobody', sale: 1 },
  { do: 'told of a stranger', sale: 0 },
  { do: 'stop selling' },
  { do: 'test mode' },
  { do: 'end test mode' },
  { do: 'rotate signing key' },
  { do: 'rotate signing key' },
  { do: 'suspend' },
  { do: 'reinstate' },
  { do: 'wait', days: 60 },
  { do: 'end', license: 0 },
  { do: 'end', license: 1 },
  { do: 'renew', license: 0 },
  { do: 'revoke', license: 1 },
  { do: 'delete key type' },
  { do: 'mint', keyType: 0, seats: 1, person: true },
  { do: 'ask for a revocation', license: 2, decision: 'none' },
  { do: 'ask for a revocation', license: 2, decision: 'deny' },
  { do: 'ask for a revocation', license: 1, decision: 'withdraw' },
  { do: 'ask for a revocation', license: 2, decision: 'approve' },
]
