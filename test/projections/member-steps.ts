import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { findMembers } from '../../projections/members.ts'
import type { LoginRequest } from '../../src/access/login-requests.ts'
import { recordAudit } from '../../src/commands/audit.ts'
import { addCustomRole, changeCustomRole, removeCustomRole } from '../../src/commands/custom-roles.ts'
import { beginViewing } from '../../src/commands/customers/portal-viewing.ts'
import { approveLogin, denyLogin } from '../../src/commands/logins.ts'
import { sendTestMail } from '../../src/commands/mails.ts'
import { addMember, changeRole, issueLink, removeMember } from '../../src/commands/members/members.ts'
import { recordFailedSignIn, recordSignIn } from '../../src/commands/members/sign-in-audit.ts'
import { changeProvider, removeProvider } from '../../src/commands/sign-in-providers.ts'
import { chooseSellingElsewhere, dismissOnboarding } from '../../src/commands/tenants.ts'
import { newId } from '../../src/credentials/id.ts'
import { RoleId } from '../../src/domain/members/roles.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'
import { addTestProvider, noRoles } from '../harness/sign-in-providers.ts'
import { directoryStepRunner } from './directory-steps.ts'

/** A step of a tenant's members in the dashboard. */
export type MemberStep = {
  do:
    | 'invite member'
    | 'change role'
    | 'issue link'
    | 'remove member'
    | 'authorize device'
    | 'deny device'
    | 'sign in'
    | 'fail to sign in'
    | 'view page'
    | 'view portal'
    | 'test mail'
    | 'dismiss onboarding'
    | 'sell elsewhere'
    | 'add provider'
    | 'add provider of customers'
    | 'rename provider'
    | 'remove provider'
    | 'add role'
    | 'change own role'
    | 'remove role'
    | 'set directory'
    | 'add user'
    | 'rename user'
    | 'deactivate user'
    | 'reactivate user'
    | 'add group'
    | 'rename group'
    | 'fill group'
    | 'remove group'
}

export const anyMemberStep: fc.Arbitrary<MemberStep> = fc.record({
  do: fc.constantFrom<MemberStep['do']>(
    'invite member',
    'change role',
    'issue link',
    'remove member',
    'authorize device',
    'deny device',
    'sign in',
    'fail to sign in',
    'view page',
    'view portal',
    'test mail',
    'dismiss onboarding',
    'sell elsewhere',
    'add provider',
    'add provider of customers',
    'rename provider',
    'remove provider',
    'add role',
    'change own role',
    'remove role',
    'set directory',
    'add user',
    'rename user',
    'deactivate user',
    'reactivate user',
    'add group',
    'rename group',
    'fill group',
    'remove group',
  ),
})

const program = (at: string): LoginRequest => ({
  deviceCodeHash: randomBytes(32).toString('hex'),
  clientName: 'keyledger on build-1',
  scopes: ['licenses:read', 'danger'],
  address: '192.0.2.1',
  createdAt: at,
  expiresAt: at,
})

export function memberStepRunner({ ports, clock }: TestLedger, tenantId: string) {
  let memberId = newId('mem')
  const [providerId, operation] = ['acme-login', () => newId('cnf')]
  let roleId = RoleId.parse(newId('rol'))
  const execution = () => ({ id: operation(), origin })
  const runOfDirectory = directoryStepRunner(ports, tenantId)
  return async (step: MemberStep): Promise<unknown> => {
    const decider = { memberId, tenantId, role: 'owner' } as const
    switch (step.do) {
      case 'invite member':
        memberId = await addMember(ports, { tenantId, role: 'support', email: 'grace@example.com' }, origin)
        return memberId
      case 'change role':
        return changeRole(ports, tenantId, memberId, 'auditor', origin)
      case 'issue link':
        return issueLink(ports, tenantId, memberId, 'invitation', origin)
      case 'remove member':
        return removeMember(ports, tenantId, memberId, origin)
      case 'authorize device': {
        const granted = { scopes: ['licenses:read'], tokenExpiresAt: null } as const
        return approveLogin(ports, program(clock.now().toISOString()), decider, granted, origin)
      }
      case 'sign in':
      case 'fail to sign in': {
        const [known] = await findMembers(ports.db, [memberId])
        if (!known) return undefined
        const attempt = { method: 'password', address: '192.0.2.1' } as const
        const record = step.do === 'sign in' ? recordSignIn : recordFailedSignIn
        return record(ports, known.member, attempt, origin.requestId)
      }
      case 'view page': {
        const view = { action: 'viewed', target: { kind: 'licenses', id: null } } as const
        return recordAudit(ports, tenantId, view, origin)
      }
      case 'view portal': {
        const asked = {
          tenantId,
          memberId,
          sessionHash: 'session',
          customerId: newId('cus'),
          subjectId: 'sub',
        }
        return beginViewing(ports, asked, origin)
      }
      case 'test mail': {
        const product = await ports.findProduct(tenantId, 'editor')
        const mail = product && { product, kind: 'key' as const, language: null }
        return mail && sendTestMail(ports, mail, memberId, origin, 'https://keys.acme.example')
      }
      case 'dismiss onboarding':
        return dismissOnboarding(ports, tenantId, origin)
      case 'sell elsewhere':
        return chooseSellingElsewhere(ports, tenantId, origin)
      case 'add provider':
        return addTestProvider({ ports }, tenantId, providerId)
      case 'add provider of customers':
        return addTestProvider({ ports }, tenantId, 'customers', undefined, {
          audience: { customerId: null },
          settings: noRoles,
        })
      case 'rename provider':
        return changeProvider(ports, tenantId, providerId, { name: 'Acme' }, operation(), origin)
      case 'remove provider':
        return removeProvider(ports, tenantId, providerId, operation(), origin)
      case 'add role': {
        const given = { name: 'Support lead', scopes: ['licenses:read'] } as const
        roleId = (await addCustomRole(ports, tenantId, given, execution())).roleId
        return changeRole(ports, tenantId, memberId, roleId, origin)
      }
      case 'change own role':
        return changeCustomRole(ports, tenantId, roleId, { scopes: ['usage:read'] }, execution())
      case 'remove role':
        return removeCustomRole(ports, tenantId, roleId, execution())
      case 'deny device':
        return denyLogin(ports, program(clock.now().toISOString()), decider, origin)
      default:
        return runOfDirectory(step.do)
    }
  }
}

/** Every kind of step, so that the log has every type of event. */
export const everyMemberStep: readonly MemberStep[] = [
  { do: 'invite member' },
  { do: 'change role' },
  { do: 'issue link' },
  { do: 'authorize device' },
  { do: 'deny device' },
  { do: 'sign in' },
  { do: 'fail to sign in' },
  { do: 'view page' },
  { do: 'view portal' },
  { do: 'view page' },
  { do: 'test mail' },
  { do: 'add role' },
  { do: 'change own role' },
  { do: 'remove member' },
  { do: 'remove role' },
  { do: 'dismiss onboarding' },
  { do: 'sell elsewhere' },
  { do: 'add provider' },
  { do: 'add provider of customers' },
  { do: 'rename provider' },
  { do: 'remove provider' },
  { do: 'add provider' },
  { do: 'set directory' },
  { do: 'add user' },
  { do: 'rename user' },
  { do: 'deactivate user' },
  { do: 'reactivate user' },
  { do: 'add group' },
  { do: 'rename group' },
  { do: 'fill group' },
  { do: 'remove group' },
  { do: 'add group' },
  { do: 'deactivate user' },
]
