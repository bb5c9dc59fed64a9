import type { Pool } from 'pg'
import { type Member, members } from '../src/domain/members/member.ts'
import type { HeldRole } from '../src/domain/members/roles.ts'
import type { Plan } from '../src/domain/tenants/events.ts'
import type { Tenant } from '../src/domain/tenants/tenant.ts'
import { heldRole, streamOfRole } from './custom-roles.ts'
import { defineDocuments, evolvedBy, projectorOf } from './document.ts'

const documents = defineDocuments(evolvedBy(members), {
  table: 'members',
  begun: (member) => (member.status === 'absent' ? undefined : member),
  columns: {
    memberId: 'text not null unique',
    tenantId: 'text not null',
    subjectId: 'text not null',
    status: 'text not null',
    role: 'text not null',
    createdAt: 'timestamptz not null',
  },
  indexes: {
    members_of_tenant: '(tenant_id, created_at)',
    members_by_subject: '(tenant_id, subject_id)',
  },
})

export const membersProjector = projectorOf(documents)

export type PresentMember = Extract<Member, { status: 'present' }>

/** A member who was not removed; one who is deactivated has no access. */
export type ListedMember = Extract<Member, { status: 'present' | 'deactivated' }>

/** A current member, with the name, status and plan of their tenant. */
export type KnownMember = {
  member: PresentMember
  /** What they may do now: a custom role has its present scopes. */
  role: HeldRole
  tenantName: string
  tenantStatus: Exclude<Tenant['status'], 'absent'>
  plan: Plan
  /** Whether members other than owners sign in only at a provider. */
  providersOnly: boolean
}

/**
 * Finds members who have access; the people of a closed reseller have none. A member whose stream is parked, or
 * that of their tenant or their custom role, is left out, since they may have been removed or have fewer rights.
 */
export async function findMembers(db: Pool, memberIds: readonly string[]): Promise<KnownMember[]> {
  const { rows } = await db.query<KnownMember>({
    name: 'find-members',
    text: `select m.state as member, ${heldRole} as role, n.state->>'name' as "tenantName", n.status as "tenantStatus", n.plan,
             n.state ? 'providersOnly' as "providersOnly"
           from members m join tenants n using (tenant_id)
             left join resellers r on r.tenant_id = m.tenant_id and r.reseller_id = m.state->>'resellerId'
           where m.member_id = any($1) and m.status = 'present'
             and (m.state->>'resellerId' is null or r.status = 'open')
             and not exists (select from parked p where p.stream in (m.stream, n.stream, r.stream, ${streamOfRole}))`,
    values: [memberIds],
  })
  return rows
}

/** Undefined for a member who is unknown, removed, deactivated, or of another tenant. */
export async function findMember(
  db: Pool,
  tenantId: string,
  memberId: string,
): Promise<PresentMember | undefined> {
  const { rows } = await db.query<{ state: PresentMember }>(
    `select state from members where tenant_id = $1 and member_id = $2 and status = 'present'`,
    [tenantId, memberId],
  )
  return rows[0]?.state
}

export async function findMemberBySubject(
  db: Pool,
  tenantId: string,
  subjectId: string,
): Promise<PresentMember | undefined> {
  const { rows } = await db.query<{ state: PresentMember }>(
    `select state from members where tenant_id = $1 and subject_id = $2 and status = 'present'`,
    [tenantId, subjectId],
  )
  return rows[0]?.state
}

/** Undefined for a member who is unknown, removed, or of another tenant. */
export async function findListedMember(
  db: Pool,
  tenantId: string,
  memberId: string,
): Promise<ListedMember | undefined> {
  const { rows } = await db.query<{ state: ListedMember }>(
    `select state from members where tenant_id = $1 and member_id = $2 and status <> 'removed'`,
    [tenantId, memberId],
  )
  return rows[0]?.state
}

/** Whether a person is a member, with access or deactivated. */
export async function isMemberBySubject(db: Pool, tenantId: string, subjectId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from members where tenant_id = $1 and subject_id = $2 and status <> 'removed'`,
    [tenantId, subjectId],
  )
  return rowCount !== 0
}

/** Whether a member who was not removed has a custom role. */
export async function isRoleGiven(db: Pool, tenantId: string, roleId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from members where tenant_id = $1 and role = $2 and status <> 'removed' limit 1`,
    [tenantId, roleId],
  )
  return rowCount !== 0
}

/** The members of a tenant, those who are deactivated among them, oldest first. */
export async function listAllMembers(db: Pool, tenantId: string): Promise<ListedMember[]> {
  const { rows } = await db.query<{ state: ListedMember }>(
    `select state from members where tenant_id = $1 and status <> 'removed' order by created_at, member_id`,
    [tenantId],
  )
  return rows.map(({ state }) => state)
}

/** The people of a reseller, oldest first. */
export async function listMembersOfReseller(
  db: Pool,
  tenantId: string,
  resellerId: string,
): Promise<ListedMember[]> {
  const { rows } = await db.query<{ state: ListedMember }>(
    `select state from members where tenant_id = $1 and role = 'reseller' and state->>'resellerId' = $2
       and status <> 'removed'
     order by created_at, member_id`,
    [tenantId, resellerId],
  )
  return rows.map(({ state }) => state)
}

/** The members of a tenant who have access, oldest first. */
export async function listMembers(db: Pool, tenantId: string): Promise<PresentMember[]> {
  const { rows } = await db.query<{ state: PresentMember }>(
    `select state from members where tenant_id = $1 and status = 'present' order by created_at, member_id`,
    [tenantId],
  )
  return rows.map(({ state }) => state)
}

/** The number of a tenant's owners with access, one member not counted. */
export async function countOtherOwners(db: Pool, tenantId: string, memberId: string): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    `select count(*) from members
     where tenant_id = $1 and member_id <> $2 and status = 'present' and role = 'owner'`,
    [tenantId, memberId],
  )
  return Number(rows[0]?.count ?? 0n)
}

/** Finds current, deactivated and removed members of a tenant by id. */
export async function findCurrentAndFormerMembers(
  db: Pool,
  tenantId: string,
  memberIds: readonly string[],
): Promise<Exclude<Member, { status: 'absent' }>[]> {
  const { rows } = await db.query<{ state: Exclude<Member, { status: 'absent' }> }>(
    'select state from members where tenant_id = $1 and member_id = any($2)',
    [tenantId, memberIds],
  )
  return rows.map(({ state }) => state)
}
