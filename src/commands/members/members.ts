import {
  countOtherOwners,
  findListedMember,
  findMember,
  findMemberBySubject,
  findMembers,
  isMemberBySubject,
  type KnownMember,
  type PresentMember,
} from '../../../projections/members.ts'
import { deleteCredentials, findCredentials } from '../../access/credentials.ts'
import { findLink, type Link, linkLifetimeMs, writeLink } from '../../access/links.ts'
import { endSessionsOf } from '../../access/sessions.ts'
import { newId } from '../../credentials/id.ts'
import { newSecret } from '../../credentials/secret.ts'
import type { LinkPurpose } from '../../domain/members/events.ts'
import { type MemberCommand, members } from '../../domain/members/member.ts'
import type { GivenRole } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { noStream } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { withTenantLock } from '../cross-stream/tenant-lock.ts'
import { requireRoles } from '../custom-roles.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/**
 * @returns the member's id
 * @throws Refusal `member_exists` when a member has this address already, also one who is deactivated; `role_not_found`
 */
export async function addMember(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now' | 'subjects'>,
  member: { tenantId: string; email: string } & (
    | { role: GivenRole }
    | { role: 'reseller'; resellerId: string }
  ),
  origin: Origin,
): Promise<string> {
  const memberId = newId('mem')
  const { tenantId, role } = member
  const { resellerId } = { resellerId: undefined, ...member }
  const at = momentOf(ports)
  const { subjectId, email } = await ports.subjects.sealPerson(tenantId, member.email, null)
  return withTenantLock(ports.db, tenantId, 'members', async () => {
    if (await isMemberBySubject(ports.db, tenantId, subjectId)) throw new Refusal('member_exists')
    await requireRoles(ports, tenantId, [role])
    const whose = resellerId !== undefined && { resellerId }
    const command = { type: 'AddMember', memberId, tenantId, role, ...whose, subjectId, email, at } as const
    await ports.execute(members, memberId, command, causeOf(origin, at), { loaded: noStream(members) })
    return memberId
  })
}

export type IssuedLink = { secret: string; expiresAt: string }

/**
 * Issues a one-time link for setting up how a member signs in; earlier links become invalid.
 * @returns the link's secret, which is stored nowhere
 * @throws Refusal `member_not_found`
 */
export async function issueLink(
  ports: Ports<'db' | 'execute' | 'now' | 'randomBytes'>,
  tenantId: string,
  memberId: string,
  purpose: LinkPurpose,
  origin: Origin,
): Promise<IssuedLink> {
  await requireMember(ports, tenantId, memberId)
  const now = ports.now()
  const secret = newSecret(ports.randomBytes)
  const expiresAt = new Date(now.getTime() + linkLifetimeMs).toISOString()
  // Written before it is recorded and returned, so that a link is never issued without a record.
  await writeLink(ports.db, { secret, memberId, tenantId, expiresAt }, now)
  await change(ports, memberId, { type: 'IssueLink', purpose, expiresAt, at: now.toISOString() }, origin)
  return { secret, expiresAt }
}

/** @throws Refusal `member_not_found`, `last_owner`, `role_not_found` */
export async function changeRole(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  tenantId: string,
  memberId: string,
  role: GivenRole,
  origin: Origin,
): Promise<void> {
  await withTenantLock(ports.db, tenantId, 'members', async () => {
    await requireMember(ports, tenantId, memberId)
    await requireRoles(ports, tenantId, [role])
    const otherOwners = await countOtherOwners(ports.db, tenantId, memberId)
    const at = momentOf(ports)
    await change(ports, memberId, { type: 'ChangeRole', role, otherOwners, at }, origin)
  })
}

/**
 * The member's sessions and tokens end too. A crash before that does no harm, since sessions and tokens are
 * accepted only for existing members.
 * @throws Refusal `member_not_found`, `last_owner`
 */
export async function removeMember(
  ports: Ports<'db' | 'execute' | 'now' | 'secrets'>,
  tenantId: string,
  memberId: string,
  origin: Origin,
): Promise<void> {
  await withTenantLock(ports.db, tenantId, 'members', async () => {
    if (!(await findListedMember(ports.db, tenantId, memberId))) throw new Refusal('member_not_found')
    const otherOwners = await countOtherOwners(ports.db, tenantId, memberId)
    await change(ports, memberId, { type: 'RemoveMember', otherOwners, at: momentOf(ports) }, origin)
  })
  await endSessionsOf(ports.db, memberId, ports.now())
  const credentials = await findCredentials(ports.db, memberId)
  await deleteCredentials(ports.db, memberId)
  if (credentials?.totpName) await ports.secrets.destroy(tenantId, credentials.totpName)
}

/** The member that a one-time link is for, with the address that they were added with. */
export type LinkHolder = KnownMember & { link: Link; email: string }

/** Undefined for a link that is unknown, used or expired, or whose member was removed. */
export async function findLinkHolder(
  ports: Ports<'db' | 'now' | 'subjects'>,
  secret: string,
): Promise<LinkHolder | undefined> {
  const link = await findLink(ports.db, secret, ports.now())
  const [known] = link ? await findMembers(ports.db, [link.memberId]) : []
  if (!link || !known) return undefined
  const email = await emailOf(ports, known.member)
  return email === null ? undefined : { ...known, link, email }
}

/** Undefined when no member has this address. */
export async function findMemberByEmail(
  { db, subjects }: Ports<'db' | 'subjects'>,
  tenantId: string,
  email: string,
): Promise<PresentMember | undefined> {
  const subjectId = await subjects.findSubject(tenantId, email)
  return subjectId === undefined ? undefined : findMemberBySubject(db, tenantId, subjectId)
}

/** Null once the person has been erased. */
export async function emailOf(
  ports: Ports<'subjects'>,
  { tenantId, subjectId, email }: { tenantId: string; subjectId: string; email: string },
): Promise<string | null> {
  const [person] = await ports.subjects.openPeople(tenantId, [{ subjectId, email, name: null }])
  return person?.email ?? null
}

async function requireMember(ports: Ports<'db'>, tenantId: string, memberId: string): Promise<void> {
  if (!(await findMember(ports.db, tenantId, memberId))) throw new Refusal('member_not_found')
}

function change(ports: Ports<'execute'>, memberId: string, command: MemberCommand, origin: Origin) {
  return ports.execute(members, memberId, command, causeOf(origin, command.at))
}
