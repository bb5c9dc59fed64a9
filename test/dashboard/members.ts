import { Secret, TOTP } from 'otpauth'
import { addCustomRole } from '../../src/commands/custom-roles.ts'
import { addMember } from '../../src/commands/members/members.ts'
import { beginTotp, setUpPassword } from '../../src/commands/members/set-up.ts'
import { createReseller } from '../../src/commands/resellers/resellers.ts'
import { newId } from '../../src/credentials/id.ts'
import type { CustomRole, GivenRole } from '../../src/domain/members/roles.ts'
import type { Quota } from '../../src/domain/resellers/events.ts'
import type { Scope } from '../../src/domain/tokens/events.ts'
import { origin, type TestLedger, uniqueId } from '../harness/ledger.ts'

export type TestMember = {
  memberId: string
  tenantId: string
  email: string
  password: string
  /** An unused code; advances the clock for it. */
  newCode(): string
}

/**
 * A member with a password and an authenticator app. The address ends in no random letters, so that no customer's
 * address (`ada@example.com`) is part of it by chance.
 */
export async function makeMember(
  { ports, clock }: Pick<TestLedger, 'ports' | 'clock'>,
  tenantId: string,
  given: GivenRole | { role: 'reseller'; resellerId: string },
  email = `${uniqueId(typeof given === 'string' ? given.replace('_', '-') : given.role)}-member@example.com`,
): Promise<TestMember> {
  const password = 'correct horse battery staple'
  const rights = typeof given === 'string' ? { role: given } : given
  const memberId = await addMember(ports, { tenantId, ...rights, email }, origin)
  const who = { memberId, tenantId, email }
  const newCode = codesOf(await beginTotp(ports, who, 'test'), clock)
  const setUp = await setUpPassword(ports, who, { password, code: newCode(), enrolment: 'test' })
  if (!setUp.done) throw new Error(setUp.message)
  return { memberId, tenantId, email, password, newCode }
}

/** The codes of an authenticator app with this secret, each at a later time. */
export function codesOf(secret: string, clock: TestLedger['clock']): () => string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  return () => {
    clock.advance(60_000)
    return totp.generate({ timestamp: clock.now().getTime() })
  }
}

/** A custom role of a tenant. */
export const makeRole = (
  { ports }: Pick<TestLedger, 'ports'>,
  tenantId: string,
  scopes: readonly Scope[],
  name = uniqueId('role'),
): Promise<CustomRole> => addCustomRole(ports, tenantId, { name, scopes }, { id: newId('req'), origin })

/** A reseller without quotas, unless some are given. */
export async function makeReseller(
  { ports }: Pick<TestLedger, 'ports'>,
  tenantId: string,
  quotas: readonly Quota[] = [],
): Promise<{ resellerId: string }> {
  const { reseller } = await createReseller(ports, tenantId, { name: 'Northwind Software', quotas }, origin)
  return reseller
}

/** The pages of the people of resellers. */
export const isOfResellers = (path: string): boolean => /^\/dashboard\/reseller(?:\/|$)/.test(path)

/** A person of a new reseller of a tenant. */
export async function makeSeller(
  ledger: Pick<TestLedger, 'ports' | 'clock'>,
  tenantId: string,
): Promise<TestMember> {
  const { resellerId } = await makeReseller(ledger, tenantId)
  return makeMember(ledger, tenantId, { role: 'reseller', resellerId })
}
