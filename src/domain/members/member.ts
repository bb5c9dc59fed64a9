import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { LinkPurpose, MemberEvent } from './events.ts'
import type { Role } from './roles.ts'

type Person = {
  memberId: string
  tenantId: string
  role: Role
  subjectId: string
  email: string
  createdAt: string
}

export type Member =
  | { status: 'absent' }
  | (Person & { status: 'present' })
  | (Person & { status: 'removed'; removedAt: string })

export type MemberCommand =
  | {
      type: 'AddMember'
      memberId: string
      tenantId: string
      role: Role
      subjectId: string
      email: string
      at: string
    }
  | { type: 'IssueLink'; purpose: LinkPurpose; expiresAt: string; at: string }
  /** `otherOwners`: how many owners the tenant has besides this member. */
  | { type: 'ChangeRole'; role: Role; otherOwners: number; at: string }
  | { type: 'RemoveMember'; otherOwners: number; at: string }

export const absentMember: Member = { status: 'absent' }

/**
 * Removal is final: a person who returns becomes a new member. A tenant keeps at least one owner.
 * @throws Refusal `member_exists`, `member_not_found`, `last_owner`
 */
export function decideMember(member: Member, command: MemberCommand): MemberEvent[] {
  if (command.type === 'AddMember') {
    if (member.status !== 'absent') throw new Refusal('member_exists')
    const { type: _, ...data } = command
    return [{ type: 'MemberAdded', data }]
  }
  if (member.status === 'absent') throw new Refusal('member_not_found')
  const { at } = command
  if (command.type === 'RemoveMember') {
    if (member.status === 'removed') return []
    if (member.role === 'owner' && command.otherOwners === 0) throw new Refusal('last_owner')
    return [{ type: 'MemberRemoved', data: { at } }]
  }
  if (member.status === 'removed') throw new Refusal('member_not_found')
  switch (command.type) {
    case 'IssueLink': {
      const { purpose, expiresAt } = command
      return [{ type: 'MemberLinkIssued', data: { purpose, expiresAt, at } }]
    }
    case 'ChangeRole':
      if (member.role === command.role) return []
      if (member.role === 'owner' && command.otherOwners === 0) throw new Refusal('last_owner')
      return [{ type: 'MemberRoleChanged', data: { role: command.role, at } }]
  }
}

/** Never refuses: what is recorded has happened. */
export function evolveMember(member: Member, event: MemberEvent): Member {
  if (event.type === 'MemberAdded') {
    const { at, ...data } = event.data
    return { ...data, status: 'present', createdAt: at }
  }
  if (member.status === 'absent') return member
  switch (event.type) {
    case 'MemberLinkIssued':
      return member
    case 'MemberRoleChanged':
      return { ...member, role: event.data.role }
    case 'MemberRemoved':
      return { ...member, status: 'removed', removedAt: event.data.at }
  }
}

/** The rules of member streams. */
export const members: Decider<Member, MemberCommand, 'member'> = {
  category: 'member',
  initial: absentMember,
  decide: decideMember,
  evolve: evolveMember,
}
