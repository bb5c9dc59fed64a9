import { Refusal } from '../refusal.ts'
import type { MemberEvent, Role } from './events.ts'

export type Member =
  | { status: 'absent' }
  | {
      status: 'present'
      memberId: string
      tenantId: string
      role: Role
      subjectId: string
      email: string
      createdAt: string
    }

export type MemberCommand = {
  type: 'AddMember'
  memberId: string
  tenantId: string
  role: Role
  subjectId: string
  email: string
  at: string
}

export const absentMember: Member = { status: 'absent' }

/** @throws Refusal `member_exists` */
export function decideMember(member: Member, command: MemberCommand): MemberEvent[] {
  if (member.status !== 'absent') throw new Refusal('member_exists')
  const { type: _, ...data } = command
  return [{ type: 'MemberAdded', data }]
}

/** Never refuses: what is recorded has happened. */
export function evolveMember(_member: Member, event: MemberEvent): Member {
  const { at, ...data } = event.data
  return { ...data, status: 'present', createdAt: at }
}
