import type { Decider } from '../decider.ts'
import { grantableBy, type HeldRole } from '../members/roles.ts'
import { Refusal } from '../refusal.ts'
import { mayStandTogether, type Scope } from '../tokens/events.ts'
import type { LoginEvent } from './events.ts'

type Decided = {
  tenantId: string
  memberId: string
  clientName: string
  scopesAsked: readonly Scope[]
  decidedAt: string
}

export type Login =
  | { status: 'pending' }
  | (Decided & {
      status: 'approved'
      tokenId: string
      scopes: readonly Scope[]
      tokenExpiresAt: string | null
    })
  | (Decided & { status: 'denied' })

type Input = {
  tenantId: string
  memberId: string
  clientName: string
  scopesAsked: readonly Scope[]
  at: string
}

export type LoginCommand =
  | (Input & {
      type: 'ApproveLogin'
      /** The member's role, which limits the scopes that can be granted. */
      role: HeldRole
      tokenId: string
      scopes: readonly Scope[]
      tokenExpiresAt: string | null
    })
  | (Input & { type: 'DenyLogin' })

export const pendingLogin: Login = { status: 'pending' }

/** The requested scopes that a member of this role can grant. */
export function grantableOf(requested: readonly Scope[], role: HeldRole): Scope[] {
  return requested.filter((scope) => grantableBy(role).includes(scope))
}

/**
 * A login is decided once. It never grants a scope that was not requested or that the member's role cannot
 * grant.
 * @throws Refusal `login_settled`, `scope_not_grantable`, `scim_scope_alone`, `expiry_in_the_past`
 */
export function decideLogin(login: Login, command: LoginCommand): LoginEvent[] {
  const { tenantId, memberId, clientName, at } = command
  if (login.status !== 'pending') {
    const same = login.memberId === memberId && login.tenantId === tenantId
    if (same && login.status === 'denied' && command.type === 'DenyLogin') return []
    throw new Refusal('login_settled')
  }
  const decided = { tenantId, memberId, clientName, scopesAsked: sorted(command.scopesAsked), at }
  if (command.type === 'DenyLogin') return [{ type: 'LoginDenied', data: decided }]
  const { tokenId, tokenExpiresAt } = command
  const scopes = sorted(command.scopes)
  const grantable = grantableOf(decided.scopesAsked, command.role)
  if (scopes.length === 0 || !scopes.every((scope) => grantable.includes(scope))) {
    throw new Refusal('scope_not_grantable')
  }
  if (!mayStandTogether(scopes)) throw new Refusal('scim_scope_alone')
  if (tokenExpiresAt !== null && tokenExpiresAt <= at) throw new Refusal('expiry_in_the_past')
  return [{ type: 'LoginApproved', data: { ...decided, tokenId, scopes, tokenExpiresAt } }]
}

const sorted = (scopes: readonly Scope[]): Scope[] => [...new Set(scopes)].sort()

/** Never refuses: what is recorded has happened. */
export function evolveLogin(_login: Login, event: LoginEvent): Login {
  if (event.type === 'LoginApproved') {
    const { at, ...data } = event.data
    return { ...data, status: 'approved', decidedAt: at }
  }
  const { at, ...data } = event.data
  return { ...data, status: 'denied', decidedAt: at }
}

/** The rules of login streams. */
export const logins: Decider<Login, LoginCommand, 'login'> = {
  category: 'login',
  initial: pendingLogin,
  decide: decideLogin,
  evolve: evolveLogin,
}
