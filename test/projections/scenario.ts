import { randomBytes } from 'node:crypto'
import { activateDevice, deactivateDevice } from '../../src/commands/devices/devices.ts'
import { editLicense, resumeLicense, suspendLicense } from '../../src/commands/licenses/edit.ts'
import { mintLicense, revokeLicense as runRevocation } from '../../src/commands/licenses/licenses.ts'
import { addMember } from '../../src/commands/members/members.ts'
import { causeOf } from '../../src/commands/origin.ts'
import {
  addKeyType,
  changeKeyType,
  changeProduct,
  createProduct,
  deleteKeyType,
} from '../../src/commands/products.ts'
import { prepareSigningKey, rotateSigningKey } from '../../src/commands/signing-keys.ts'
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
import { customerStepRunner } from './customer-steps.ts'
import { deliveryStepRunner } from './delivery-steps.ts'
import { fileStepRunner } from './file-steps.ts'
import { installStepRunner } from './install-steps.ts'
import { memberStepRunner } from './member-steps.ts'
import { meterStepRunner } from './meter-steps.ts'
import { personSeatStepRunner } from './person-seat-steps.ts'
import { relayStepRunner } from './relay-steps.ts'
import { resellerStepRunner } from './reseller-steps.ts'
import { runSellingStep } from './selling-steps.ts'
import type { Decision, Step } from './steps.ts'

export type Scenario = {
  tenantId: string
  licenses: { id: string; licenseKey: string }[]
  /** Runs one step. A refusal is ignored: it records nothing. */
  run(step: Step): Promise<void>
}

const productId = 'editor'
const day = 86_400_000

export async function startScenario(ledger: TestLedger): Promise<Scenario> {
  const { ports, clock } = ledger
  const tenantId = uniqueId('scenario')
  const plan = 'unlimited'
  // As the first start does.
  await identify(ports.ledger, causeOf(origin, clock.now().toISOString()))
  await createTenant(ports, { tenantId, name: 'Scenario', plan }, origin)
  const product = await createProduct(
    ports,
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
        {
          ...defaultKeyType,
          keyTypeId: 'type-3',
          floatingSeats: { seatSeconds: 60, overdraft: null, scope: 'device' },
        },
      ],
    },
    origin,
  )
  const licenses: Scenario['licenses'] = []
  const runCustomerStep = customerStepRunner(ledger, tenantId, productId)
  const runMemberStep = memberStepRunner(ledger, tenantId)
  const runDeliveryStep = deliveryStepRunner(ledger, tenantId)
  const runFileStep = fileStepRunner(ledger)
  const runMeterStep = meterStepRunner(ledger, tenantId, productId)
  const runPersonSeatStep = personSeatStepRunner(ledger, tenantId, productId)
  const runRelayStep = relayStepRunner(ledger, tenantId, productId)
  const runResellerStep = resellerStepRunner(ledger, tenantId, productId)
  const runInstallStep = installStepRunner(ledger, tenantId, productId)
  const licenseAt = (index: number) => licenses[index % licenses.length]

  async function seat(step: Extract<Step, { do: 'activate' | 'deactivate' }>): Promise<void> {
    const keyHash = keyHashOf(licenseAt(step.license)?.licenseKey ?? '')
    if (keyHash === undefined) return
    const params = { tenantId, productId, keyHash, keyedHash: null, deviceId: `device-${step.device}` }
    const found = await ports.findForRuntime(params)
    if (found.kind !== 'license') return
    if (step.do === 'activate') {
      await activateDevice(ports, found, params, { name: 'A device', plan, builtAt: null }, origin)
    } else await deactivateDevice(ports, found, params, null, origin)
  }

  async function mint(step: Extract<Step, { do: 'mint' }>): Promise<void> {
    const terms = {
      keyTypeId: step.keyType === 0 ? undefined : `type-${step.keyType}`,
      ...(step.seats !== null && { deviceLimit: step.seats }),
      ...(step.person && { email: `${tenantId}@example.com`, name: 'Ada', sendKey: true }),
      metadata: { odd: '"\\ {} é 💻' },
    }
    const minted = await mintLicense(ports, product, terms, origin)
    licenses.push({ id: minted.license.licenseId, licenseKey: minted.licenseKey })
  }

  async function askForRevocation(id: string, decision: Decision): Promise<void> {
    const call = {
      tenantId,
      tokenId: 'tok_1',
      userAgent: null,
      request: { parameters: { id }, query: {}, body: null },
      origin,
      confirmationId: undefined,
    }
    const gated = await passGate(ports, revokeLicense, call)
    if (gated.passed || decision === 'none') return
    const { confirmationId } = gated.confirmation
    const by = { ...origin, actor: 'operator:test' }
    if (decision === 'deny') return deny(ports, tenantId, confirmationId, by)
    await approve(ports, tenantId, confirmationId, by)
    if (decision === 'withdraw') return withdraw(ports, tenantId, confirmationId, by)
    await passGate(ports, revokeLicense, { ...call, confirmationId })
  }

  async function change(step: Step): Promise<unknown> {
    const at = clock.now().toISOString()
    const target = 'license' in step ? licenseAt(step.license) : undefined
    if ('license' in step && target === undefined) return
    const id = target?.id ?? ''
    switch (step.do) {
      case 'mint':
        return mint(step)
      case 'activate':
      case 'deactivate':
        return seat(step)
      case 'free seat':
        return commandLicense(ledger, id, {
          type: 'FreeSeat',
          deviceId: `device-${step.device}`,
          most: 2,
          at,
        })
      case 'name device': {
        const name = { subjectId: 'sub_1', text: 'sealed.1.AAAA' }
        return commandLicense(ledger, id, { type: 'NameDevice', deviceId: `device-${step.device}`, name, at })
      }
      case 'remint': {
        const { licenseKey, keyHash, displayKey } = newLicenseKey('ED', randomBytes)
        const { keepDevices } = step
        await commandLicense(ledger, id, { type: 'RemintLicense', keyHash, displayKey, keepDevices, at })
        if (target) target.licenseKey = licenseKey
        return undefined
      }
      case 'revoke':
        return runRevocation(ports, tenantId, id, 'because', origin)
      case 'suspend license':
        return suspendLicense(ports, { tenantId, licenseId: id, reason: 'because' }, origin)
      case 'resume license':
        return resumeLicense(ports, { tenantId, licenseId: id, reason: null }, origin)
      case 'edit license': {
        const email = step.person && `${step.person}-${tenantId}@example.com`
        const metadata = { seats: String(step.seats), orderNumber: `order-${step.seats}` }
        const edit = { deviceLimit: step.seats, email, metadata }
        return editLicense(ports, { tenantId, licenseId: id, reason: null }, edit, origin)
      }
      case 'notice sharing':
        return commandLicense(ledger, id, {
          type: 'NoticeSharing',
          rule: 'networks',
          count: 4,
          limit: 3,
          day: at.slice(0, 10),
          suspend: false,
          at,
        })
      case 'allow sharing':
        return commandLicense(ledger, id, { type: 'AllowSharing', allowed: true, reason: null, at })
      case 'renew': {
        const expiresAt = new Date(clock.now().getTime() + 30 * day).toISOString()
        return commandLicense(ledger, id, { type: 'RenewLicense', expiresAt, at })
      }
      case 'end period':
        return commandLicense(ledger, id, { type: 'EndPaidPeriod', at })
      case 'change product':
        return changeProduct(
          ports,
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
        return addKeyType(ports, tenantId, productId, added, origin)
      }
      case 'change key type': {
        const entitlements = [step.entitlement]
        return changeKeyType(ports, tenantId, productId, `type-${step.keyType}`, { entitlements }, origin)
      }
      case 'delete key type': {
        const keyType = { tenantId, productId, keyTypeId: 'type-2' }
        return deleteKeyType(ports, keyType, { ...origin, requestId: newId('req') })
      }
      case 'request revocation':
        return askForRevocation(id, step.decision)
      case 'prepare signing key':
        return prepareSigningKey(ports, tenantId, origin)
      case 'rotate signing key':
        return rotateSigningKey(ports, tenantId, origin)
      case 'suspend':
        return suspendTenant(ports, tenantId, null, origin)
      case 'reinstate':
        await changeApprovalRule(ports, tenantId, true, origin)
        return reinstateTenant(ports, tenantId, origin)
      case 'create token':
        return createToken(ports, { tenantId, name: 'CI', scopes: ['danger'], expiresAt: null }, origin)
      case 'add member':
        return addMember(ports, { tenantId, role: 'support', email: 'ada@example.com' }, origin)
      case 'connect':
      case 'map':
      case 'rotate webhook secret':
      case 'disconnect':
      case 'test purchase':
      case 'sold':
      case 'sold unmapped':
      case 'refunded':
      case 'renewed':
      case 'unknown sale refunded':
      case 'unknown sale ended':
      case 'change mail':
      case 'change portal':
      case 'word mail':
      case 'list releases':
      case 'test mode':
      case 'end test mode':
        return runSellingStep(ledger, { tenantId, productId }, step)
      case 'wait':
        return clock.advance(step.days * day)
      case 'invite member':
      case 'change role':
      case 'issue link':
      case 'remove member':
      case 'authorize device':
      case 'deny device':
      case 'dismiss onboarding':
      case 'sell elsewhere':
      case 'add provider':
      case 'add provider of customers':
      case 'rename provider':
      case 'remove provider':
      case 'set directory':
      case 'add user':
      case 'rename user':
      case 'deactivate user':
      case 'reactivate user':
      case 'add group':
      case 'rename group':
      case 'fill group':
      case 'remove group':
      case 'sign in':
      case 'fail to sign in':
      case 'view page':
      case 'view portal':
      case 'test mail':
      case 'add role':
      case 'change own role':
      case 'remove role':
        return runMemberStep(step)
      case 'report':
      case 'exceed installs':
        return runInstallStep(step)
      case 'issue file':
      case 'release file':
        return runFileStep(step, id)
      case 'consume':
      case 'hold':
      case 'commit':
      case 'release':
      case 'grant':
      case 'spend':
      case 'give back':
      case 'add credit':
      case 'withdraw credit':
      case 'correct use':
      case 'close periods':
      case 'tell':
        return runMeterStep(step, id)
      case 'give seat':
      case 'take seat':
      case 'replace key':
      case 'use seat':
        return runPersonSeatStep(step)
      case 'add reseller':
      case 'change quota':
      case 'mint for reseller':
      case 'take and return':
      case 'close reseller':
        return runResellerStep(step)
      case 'certify relay':
      case 'release relay':
        return runRelayStep(step)
      case 'sell license':
      case 'use license':
      case 'schedule pending':
      case 'attempt delivery':
      case 'redeliver':
      case 'hurry':
      case 'add endpoint':
      case 'pause endpoint':
      case 'replay':
      case 'bounce':
        return runDeliveryStep(step)
      default:
        return runCustomerStep(step, id)
    }
  }

  return {
    tenantId,
    licenses,
    async run(step) {
      try {
        await change(step)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
      }
    },
  }
}
