import { Secret, TOTP } from 'otpauth'
import { addMember } from '../../src/commands/members/members.ts'
import { beginTotp, setUpPassword } from '../../src/commands/members/set-up.ts'
import type { Role } from '../../src/domain/members/roles.ts'
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
  role: Role,
  email = `${uniqueId(role)}-member@example.com`,
): Promise<TestMember> {
  const password = 'correct horse battery staple'
  const memberId = await addMember(ports, { tenantId, role, email }, origin)
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
