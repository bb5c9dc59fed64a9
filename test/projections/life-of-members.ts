import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import type { LoginRequest } from '../../src/access/login-requests.ts'
import { approveLogin, denyLogin } from '../../src/commands/logins.ts'
import { addMember, changeRole, issueLink, removeMember } from '../../src/commands/members/members.ts'
import { newId } from '../../src/credentials/id.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

/** What the people of a tenant do in the dashboard. */
export type MemberStep = {
  do: 'admit' | 'change role' | 'issue link' | 'remove member' | 'sign in a program' | 'refuse a program'
}

export const anyMemberStep: fc.Arbitrary<MemberStep> = fc.record({
  do: fc.constantFrom<MemberStep['do']>(
    'admit',
    'change role',
    'issue link',
    'remove member',
    'sign in a program',
    'refuse a program',
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

export function liveAsMembers({ services, clock }: TestLedger, tenantId: string) {
  let memberId = newId('mem')
  return async (step: MemberStep): Promise<unknown> => {
    const decider = { memberId, tenantId, role: 'owner' } as const
    switch (step.do) {
      case 'admit':
        memberId = await addMember(
          services,
          { tenantId, role: 'support', email: 'grace@example.com' },
          origin,
        )
        return memberId
      case 'change role':
        return changeRole(services, tenantId, memberId, 'auditor', origin)
      case 'issue link':
        return issueLink(services, tenantId, memberId, 'invitation', origin)
      case 'remove member':
        return removeMember(services, tenantId, memberId, origin)
      case 'sign in a program': {
        const granted = { scopes: ['licenses:read'], tokenExpiresAt: null } as const
        return approveLogin(services, program(clock.now().toISOString()), decider, granted, origin)
      }
      case 'refuse a program':
        return denyLogin(services, program(clock.now().toISOString()), decider, origin)
    }
  }
}

/** One of everything, so that every type of event is there. */
export const membersLife: readonly MemberStep[] = [
  { do: 'admit' },
  { do: 'change role' },
  { do: 'issue link' },
  { do: 'sign in a program' },
  { do: 'refuse a program' },
  { do: 'remove member' },
]
