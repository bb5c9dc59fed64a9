import { findLogin } from '../../projections/logins.ts'
import { findMember } from '../../projections/members.ts'
import type { LoginRequest } from '../access/login-requests.ts'
import { newId } from '../credentials/id.ts'
import { type LoginCommand, logins } from '../domain/logins/login.ts'
import type { HeldRole } from '../domain/members/roles.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Scope } from '../domain/tokens/events.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'
import { createToken, type NewToken } from './tokens.ts'

export type LoginDecider = { memberId: string; tenantId: string; role: HeldRole }

/** @throws Refusal `login_settled`, `scope_not_grantable`, `expiry_in_the_past` */
export async function approveLogin(
  ports: Ports<'execute' | 'now'>,
  request: LoginRequest,
  decider: LoginDecider,
  granted: { scopes: readonly Scope[]; tokenExpiresAt: string | null },
  origin: Origin,
): Promise<void> {
  const input = inputOf(ports, request, decider)
  const command: LoginCommand = {
    type: 'ApproveLogin',
    ...input,
    ...granted,
    role: decider.role,
    tokenId: newId('tok'),
  }
  await change(ports, request.deviceCodeHash, command, origin)
}

/** @throws Refusal `login_settled` */
export async function denyLogin(
  ports: Ports<'execute' | 'now'>,
  request: LoginRequest,
  decider: LoginDecider,
  origin: Origin,
): Promise<void> {
  const command: LoginCommand = { type: 'DenyLogin', ...inputOf(ports, request, decider) }
  await change(ports, request.deviceCodeHash, command, origin)
}

export type Redemption =
  | { status: 'pending' | 'denied' | 'spent' }
  | ({ status: 'token'; tenantId: string } & NewToken)

/**
 * Gives an API client the token that a member approved. It is created now, with the id in the approval: of
 * several concurrent requests one gets it, and later ones get none. If the answer is lost, the token is lost
 * too, and the dashboard shows it as never used.
 */
export async function redeemLogin(
  ports: Ports<'db' | 'execute' | 'now' | 'randomBytes'>,
  deviceCodeHash: string,
  { requestId, address }: { requestId: string; address: string },
): Promise<Redemption> {
  const login = await findLogin(ports.db, deviceCodeHash)
  if (!login) return { status: 'pending' }
  if (login.status === 'denied') return { status: 'denied' }
  const { tenantId, memberId, clientName, tokenId, scopes, tokenExpiresAt: expiresAt } = login
  // A token is only valid while its member exists, so one for a removed member would never work.
  if (!(await findMember(ports.db, tenantId, memberId))) return { status: 'denied' }
  try {
    const created = await createToken(
      ports,
      { tokenId, tenantId, name: clientName, scopes, expiresAt },
      { requestId, actor: `member:${memberId}`, source: () => ({ tenantId, memberId, address }) },
    )
    return { status: 'token', tenantId, ...created }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'token_exists') return { status: 'spent' }
    throw error
  }
}

function inputOf(ports: Ports<'now'>, request: LoginRequest, { memberId, tenantId }: LoginDecider) {
  const { clientName, scopes: scopesAsked } = request
  return { memberId, tenantId, clientName, scopesAsked, at: momentOf(ports) }
}

function change(ports: Ports<'execute'>, deviceCodeHash: string, command: LoginCommand, origin: Origin) {
  return ports.execute(logins, deviceCodeHash, command, causeOf(origin, command.at))
}
