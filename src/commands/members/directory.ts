import { z } from 'zod'
import {
  countOtherOwners,
  findListedMember,
  type ListedMember,
  listAllMembers,
} from '../../../projections/members.ts'
import { readScim } from '../../../projections/scim.ts'
import { changeEmailIndex } from '../../access/credentials.ts'
import { sameMailbox } from '../../access/fingerprint.ts'
import { endSessionsOf } from '../../access/sessions.ts'
import { newId } from '../../credentials/id.ts'
import { sameJson } from '../../domain/equality.ts'
import { type Access, members } from '../../domain/members/member.ts'
import type { GivenRole } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { roleByGroups, type Scim } from '../../domain/scim/scim.ts'
import { noStream } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { withTenantLock } from '../cross-stream/tenant-lock.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/** How a directory describes a person, besides their address. */
const Profile = z.object({
  userName: z.string(),
  externalId: z.string().nullable(),
  displayName: z.string().nullable(),
  givenName: z.string().nullable(),
  familyName: z.string().nullable(),
  formatted: z.string().nullable(),
})
type Profile = z.infer<typeof Profile>

/** A person as a directory wants them to be. */
export type Wanted = Profile & { email: string; active: boolean }

/** A member as a directory sees them. */
export type DirectoryUser = Wanted & { member: ListedMember; updatedAt: string }

type ReadPorts = Ports<'db' | 'subjects'>
type ChangePorts = ReadPorts & Ports<'execute' | 'fingerprint' | 'now'>

/**
 * All members of a tenant but the people of resellers, oldest first. One whom no directory described yet is known by their
 * address.
 */
export async function listUsers(ports: ReadPorts, tenantId: string): Promise<DirectoryUser[]> {
  return (await everyone(ports, tenantId)).filter(isOfVendor)
}

const everyone = async (ports: ReadPorts, tenantId: string): Promise<DirectoryUser[]> =>
  usersOf(ports, tenantId, await listAllMembers(ports.db, tenantId))

const isOfVendor = ({ member }: DirectoryUser): boolean => member.role !== 'reseller'

async function usersOf(
  { subjects }: ReadPorts,
  tenantId: string,
  listed: readonly ListedMember[],
): Promise<DirectoryUser[]> {
  const people = await subjects.openPeople(
    tenantId,
    listed.map(({ subjectId, email }) => ({ subjectId, email, name: null })),
  )
  const profiles = await subjects.openProfiles(
    tenantId,
    listed.map(({ subjectId, directory }) => (directory ? { subjectId, text: directory.profile } : null)),
  )
  return listed.flatMap((member, index) => {
    const email = people[index]?.email
    if (email == null) return []
    const active = member.status === 'present' || member.reason === 'no_role'
    const updatedAt = member.directory?.updatedAt ?? member.createdAt
    return [{ member, email, active, updatedAt, ...profileIn(profiles[index], email) }]
  })
}

const nameless = { externalId: null, displayName: null, givenName: null, familyName: null, formatted: null }

const profileIn = (text: string | null | undefined, email: string): Profile =>
  text == null ? { userName: email, ...nameless } : Profile.parse(JSON.parse(text))

/** @throws Refusal `member_not_found`, also for another tenant's member */
export async function requireUser(
  ports: ReadPorts,
  tenantId: string,
  memberId: string,
): Promise<DirectoryUser> {
  const member = await findListedMember(ports.db, tenantId, memberId)
  return userIn(await usersOf(ports, tenantId, member ? [member] : []), memberId)
}

function userIn(users: readonly DirectoryUser[], memberId: string): DirectoryUser {
  const user = users.find((one) => one.member.memberId === memberId && isOfVendor(one))
  if (!user) throw new Refusal('member_not_found')
  return user
}

/**
 * Adds a member for a person of the directory. The lock makes names and addresses unique among all processes, and the member
 * is one append: after a crash there is a member, and a repetition is refused, or there is none.
 * @throws Refusal `member_exists` when a member has this user name or this address
 */
export async function addUser(
  ports: ChangePorts,
  tenantId: string,
  wanted: Wanted,
  origin: Origin,
): Promise<DirectoryUser> {
  const memberId = newId('mem')
  await withTenantLock(ports.db, tenantId, 'members', async () => {
    const { subjectId, email } = await ports.subjects.sealPerson(tenantId, wanted.email, null)
    requireUnique(await everyone(ports, tenantId), undefined, { userName: wanted.userName, subjectId })
    const { scim } = await readScim(ports.db, tenantId)
    const given = roleByGroups(scim, undefined, false)
    if (given === 'kept') throw new Error('a new member has no role to keep')
    const at = momentOf(ports)
    const profile = await sealed(ports, tenantId, subjectId, profileOf(wanted))
    const access = accessFor(wanted.active, given)
    // A member without a role has that with the fewest rights, and no access.
    const role = given ?? 'auditor'
    const directory = { profile, access, roleless: given === null }
    const command = { type: 'AddMember', memberId, tenantId, role, subjectId, email, directory, at } as const
    await ports.execute(members, memberId, command, causeOf(origin, at), { loaded: noStream(members) })
  })
  return requireUser(ports, tenantId, memberId)
}

const accessFor = (active: boolean, role: GivenRole | 'kept' | null): Access => {
  if (!active) return 'directory'
  return role === null ? 'no_role' : 'granted'
}

/**
 * Changes a member to what the directory says: one append, so that a crash leaves all of it or nothing. What follows it is
 * done again by a repetition: the sessions of a deactivated member end, and a password fits to the present address.
 * @param change what the user is to be, from what they are
 * @throws Refusal `member_not_found`, `member_exists`, `last_owner`; what `change` throws
 */
export async function changeUser(
  ports: ChangePorts,
  tenantId: string,
  memberId: string,
  change: (user: DirectoryUser) => Wanted,
  origin: Origin,
): Promise<DirectoryUser> {
  await withTenantLock(ports.db, tenantId, 'members', async () => {
    const users = await everyone(ports, tenantId)
    const user = userIn(users, memberId)
    const wanted = change(user)
    const { subjectId, email } = await ports.subjects.sealPerson(tenantId, wanted.email, null)
    requireUnique(users, memberId, { userName: wanted.userName, subjectId })
    const { scim } = await readScim(ports.db, tenantId)
    const { member } = user
    const moved = subjectId !== member.subjectId
    const isDescribed = member.directory !== undefined && !moved
    const profile = profileOf(wanted)
    const role = roleByGroups(scim, memberId, !member.roleless)
    await follow(ports, member, origin, {
      ...(moved && { address: { subjectId, email } }),
      ...(!(isDescribed && sameJson(profile, profileOf(user))) && {
        profile: await sealed(ports, tenantId, subjectId, profile),
      }),
      role: role ?? 'kept',
      access: accessFor(wanted.active, role),
    })
    await changeEmailIndex(ports.db, memberId, ports.fingerprint('email', sameMailbox(wanted.email)))
  })
  return requireUser(ports, tenantId, memberId)
}

/**
 * Gives each member of the directory the role of their groups; a member whom it has only put into a group belongs to it from
 * then on. A crash in the midst is repaired by the next change of a group or of the settings, which does it for all. Call it
 * under the lock `members`.
 */
export async function followGroups(
  ports: ReadPorts & Ports<'execute' | 'now'>,
  tenantId: string,
  scim: Scim,
  origin: Origin,
): Promise<void> {
  const grouped = new Set(scim.groups.flatMap(({ memberIds }) => memberIds))
  for (const user of await listUsers(ports, tenantId)) {
    const { member, active } = user
    const { memberId, subjectId } = member
    if (!member.directory && !grouped.has(memberId)) continue
    const role = roleByGroups(scim, memberId, !member.roleless)
    await follow(ports, member, origin, {
      ...(!member.directory && { profile: await sealed(ports, tenantId, subjectId, profileOf(user)) }),
      role: role ?? 'kept',
      access: accessFor(active, role),
    })
  }
}

type Follow = {
  profile?: string
  address?: { subjectId: string; email: string }
  role: GivenRole | 'kept'
  access: Access
}

async function follow(
  ports: Ports<'db' | 'execute' | 'now'>,
  member: ListedMember,
  origin: Origin,
  wanted: Follow,
): Promise<void> {
  const { memberId, tenantId } = member
  const at = momentOf(ports)
  const command = { type: 'FollowDirectory', ...wanted, at } as const
  // With other owners, the most events follow.
  const isDone = members.decide(member, { ...command, otherOwners: 1 }).length === 0
  // Also those that outlived a crash, so that they do not come back with the access.
  if (member.status === 'deactivated') await endSessionsOf(ports.db, memberId, ports.now())
  if (isDone) return
  const otherOwners = await countOtherOwners(ports.db, tenantId, memberId)
  const { state } = await ports.execute(members, memberId, { ...command, otherOwners }, causeOf(origin, at))
  if (state.status === 'deactivated') await endSessionsOf(ports.db, memberId, ports.now())
}

type Named = { userName: string; subjectId: string }

/** @throws Refusal `member_exists` */
function requireUnique(
  users: readonly DirectoryUser[],
  own: string | undefined,
  { userName, subjectId }: Named,
): void {
  const name = userName.toLowerCase()
  const taken = users.some(
    (user) =>
      user.member.memberId !== own &&
      (user.userName.toLowerCase() === name || user.member.subjectId === subjectId),
  )
  if (taken) throw new Refusal('member_exists')
}

const profileOf = ({
  userName,
  externalId,
  displayName,
  givenName,
  familyName,
  formatted,
}: Profile): Profile => ({
  userName,
  externalId,
  displayName,
  givenName,
  familyName,
  formatted,
})

/** @throws Refusal `member_not_found` when the person was erased meanwhile */
async function sealed(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  subjectId: string,
  profile: Profile,
): Promise<string> {
  const text = await subjects.sealProfile(tenantId, subjectId, JSON.stringify(profile))
  if (text === null) throw new Refusal('member_not_found')
  return text
}
