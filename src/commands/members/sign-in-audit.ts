import type { PresentMember } from '../../../projections/members.ts'
import { sha256 } from '../../credentials/sha256.ts'
import { audits } from '../../domain/audit/audit.ts'
import type { SignInMethod } from '../../domain/audit/events.ts'
import { auditKey } from '../../domain/streams.ts'
import { noStream } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf } from '../origin.ts'

/** How and from which network address a sign-in was tried. */
type Attempt = { method: SignInMethod; address: string }

type SignInPorts = Ports<'execute' | 'newId' | 'now' | 'subjects'>

/** Failed sign-ins of a member within this time are one entry, so that strangers cannot fill the log. */
const togetherMs = 10 * 60_000

/**
 * Records a sign-in in the audit log before the session begins. The address is sealed under the key of the person.
 * @throws LedgerUnavailable when the append fails; the member is not signed in then
 */
export async function recordSignIn(
  ports: SignInPorts,
  member: PresentMember,
  attempt: Attempt,
  requestId: string,
): Promise<void> {
  const auditId = ports.newId('aud')
  const data = await signInOf(ports, member, attempt, auditId)
  const cause = causeOf({ requestId, actor: `member:${member.memberId}` }, data.at)
  const key = auditKey(member.tenantId, auditId)
  await ports.execute(audits, key, { type: 'SignedIn', data }, cause, { loaded: noStream(audits) })
}

/** Records a failed sign-in with a member's account; of those within ten minutes only the first. */
export async function recordFailedSignIn(
  ports: SignInPorts,
  member: PresentMember,
  attempt: Attempt,
  requestId: string,
): Promise<void> {
  const period = Math.floor(ports.now().getTime() / togetherMs)
  const auditId = `aud_${sha256(`failed ${member.memberId} ${period}`).slice(0, 26)}`
  const data = await signInOf(ports, member, attempt, auditId)
  const cause = causeOf({ requestId, actor: 'system:sign-in' }, data.at)
  await ports.execute(audits, auditKey(member.tenantId, auditId), { type: 'SignInFailed', data }, cause)
}

async function signInOf(
  ports: Ports<'now' | 'subjects'>,
  { tenantId, memberId, subjectId }: PresentMember,
  { method, address }: Attempt,
  auditId: string,
) {
  const sealed = await ports.subjects.sealAddress(tenantId, subjectId, address)
  return { auditId, tenantId, memberId, subjectId, method, address: sealed, at: momentOf(ports) }
}
