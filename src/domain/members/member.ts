import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { LinkPurpose, MemberEvent, WithoutAccess } from './events.ts'
import type { GivenRole, RecordedRole } from './roles.ts'

type Person = {
  memberId: string
  tenantId: string
  role: RecordedRole
  /** Of a person of a reseller. */
  resellerId?: string | undefined
  subjectId: string
  email: string
  createdAt: string
  /** How a directory describes the member, sealed; absent for a member whom no directory manages. */
  directory?: { profile: string; updatedAt: string }
  /** No role was ever given: `role` only holds its place. */
  roleless?: true
}

export type Member =
  | { status: 'absent' }
  | (Person & { status: 'present' })
  | (Person & { status: 'deactivated'; reason: WithoutAccess })
  | (Person & { status: 'removed'; removedAt: string })

/** `granted`, or why not. */
export type Access = 'granted' | WithoutAccess

export type MemberCommand =
  | {
      type: 'AddMember'
      memberId: string
      tenantId: string
      role: RecordedRole
      resellerId?: string
      subjectId: string
      email: string
      /** For a member of a directory; `roleless`: the role holds the place of one. */
      directory?: { profile: string; access: Access; roleless: boolean }
      at: string
    }
  | { type: 'IssueLink'; purpose: LinkPurpose; expiresAt: string; at: string }
  /** `otherOwners`: how many owners with access the tenant has besides this member. */
  | { type: 'ChangeRole'; role: GivenRole; otherOwners: number; at: string }
  | FollowDirectory
  | { type: 'RemoveMember'; otherOwners: number; at: string }

/** Makes a member what a directory says. A profile is sent when it differs, and with a new address, whose key seals it. */
type FollowDirectory = {
  type: 'FollowDirectory'
  profile?: string | undefined
  address?: { subjectId: string; email: string } | undefined
  role: GivenRole | 'kept'
  access: Access
  otherOwners: number
  at: string
}

export const absentMember: Member = { status: 'absent' }

/**
 * Removal is final: a person who returns becomes a new member. A tenant keeps at least one owner with access. A person of a
 * reseller stays that until they are removed.
 * @throws Refusal `member_exists`, `member_not_found`, `last_owner`, `member_of_reseller`
 */
export function decideMember(member: Member, command: MemberCommand): MemberEvent[] {
  if (command.type === 'AddMember') {
    if (member.status !== 'absent') throw new Refusal('member_exists')
    return added(command)
  }
  if (member.status === 'absent') throw new Refusal('member_not_found')
  const { at } = command
  if (command.type === 'RemoveMember') {
    if (member.status === 'removed') return []
    if (isLastOwner(member, command)) throw new Refusal('last_owner')
    return [{ type: 'MemberRemoved', data: { at } }]
  }
  if (member.status === 'removed') throw new Refusal('member_not_found')
  switch (command.type) {
    case 'IssueLink': {
      if (member.status === 'deactivated') throw new Refusal('member_not_found')
      const { purpose, expiresAt } = command
      return [{ type: 'MemberLinkIssued', data: { purpose, expiresAt, at } }]
    }
    case 'ChangeRole':
      if (member.role === 'reseller') throw new Refusal('member_of_reseller')
      if (member.role === command.role) return []
      if (isLastOwner(member, command)) throw new Refusal('last_owner')
      return [{ type: 'MemberRoleChanged', data: { role: command.role, at } }]
    case 'FollowDirectory':
      return followed(member, command)
  }
}

function added({
  type: _,
  directory,
  ...data
}: Extract<MemberCommand, { type: 'AddMember' }>): MemberEvent[] {
  const { at } = data
  const events: MemberEvent[] = [{ type: 'MemberAdded', data }]
  if (!directory) return events
  const { profile, access, roleless } = directory
  events.push({ type: 'MemberProvisioned', data: { profile, at } })
  const reasons = new Set([
    ...(roleless ? ['no_role' as const] : []),
    ...(access === 'granted' ? [] : [access]),
  ])
  for (const reason of reasons) events.push({ type: 'MemberDeactivated', data: { reason, at } })
  return events
}

/** The last owner keeps role and access, whatever their groups are; only to deactivate them is refused. */
function followed(
  member: Extract<Member, { status: 'present' | 'deactivated' }>,
  { profile, address, at, ...wanted }: FollowDirectory,
): MemberEvent[] {
  if (member.role === 'reseller') throw new Refusal('member_of_reseller')
  const isLast = isLastOwner(member, wanted)
  if (isLast && wanted.access === 'directory') throw new Refusal('last_owner')
  const access = isLast ? 'granted' : wanted.access
  const role = isLast || wanted.role === 'kept' ? member.role : wanted.role
  const events: MemberEvent[] = []
  if (address && address.subjectId !== member.subjectId)
    events.push({ type: 'MemberAddressChanged', data: { ...address, at } })
  if (profile !== undefined && profile !== member.directory?.profile)
    events.push({ type: 'MemberProvisioned', data: { profile, at } })
  if (role !== member.role) events.push({ type: 'MemberRoleChanged', data: { role, at } })
  if (access === accessOf(member)) return events
  if (access === 'granted') events.push({ type: 'MemberReactivated', data: { at } })
  else events.push({ type: 'MemberDeactivated', data: { reason: access, at } })
  return events
}

const accessOf = (member: Extract<Member, { status: 'present' | 'deactivated' }>): Access =>
  member.status === 'present' ? 'granted' : member.reason

const isLastOwner = (
  member: Exclude<Member, { status: 'absent' }>,
  { otherOwners }: { otherOwners: number },
): boolean => member.status === 'present' && member.role === 'owner' && otherOwners === 0

/** Never refuses: what is recorded has happened. */
export function evolveMember(member: Member, event: MemberEvent): Member {
  if (event.type === 'MemberAdded') {
    const { at, ...data } = event.data
    return { ...data, status: 'present', createdAt: at }
  }
  if (member.status === 'absent') return member
  const after = evolveKnown(member, event)
  return after.directory === undefined
    ? after
    : { ...after, directory: { ...after.directory, updatedAt: event.data.at } }
}

type Known = Exclude<Member, { status: 'absent' }>

function evolveKnown(member: Known, event: Exclude<MemberEvent, { type: 'MemberAdded' }>): Known {
  switch (event.type) {
    case 'MemberLinkIssued':
      return member
    case 'MemberRoleChanged': {
      const { roleless: _, ...rest } = member
      return { ...rest, role: event.data.role }
    }
    case 'MemberProvisioned':
      return { ...member, directory: { profile: event.data.profile, updatedAt: event.data.at } }
    case 'MemberAddressChanged': {
      const { subjectId, email } = event.data
      return { ...member, subjectId, email }
    }
    case 'MemberDeactivated': {
      const { reason } = event.data
      const roleless = reason === 'no_role' && { roleless: true as const }
      return { ...personIn(member), ...roleless, status: 'deactivated', reason }
    }
    case 'MemberReactivated':
      return { ...personIn({ ...member, roleless: undefined }), status: 'present' }
    case 'MemberRemoved':
      return { ...personIn(member), status: 'removed', removedAt: event.data.at }
  }
}

/** The person without what belongs to one status. */
function personIn(member: Omit<Known, 'roleless'> & { roleless?: true | undefined }): Person {
  const { memberId, tenantId, role, subjectId, email, createdAt, directory, roleless } = member
  const person = { memberId, tenantId, role, subjectId, email, createdAt }
  return { ...person, ...(directory && { directory }), ...(roleless && { roleless }) }
}

/** The rules of member streams. */
export const members: Decider<Member, MemberCommand, 'member'> = {
  category: 'member',
  initial: absentMember,
  decide: decideMember,
  evolve: evolveMember,
}
