import type { Pool } from 'pg'
import { z } from 'zod'
import { findMembers, type KnownMember } from '../../projections/members.ts'
import { findSignInProvider } from '../../projections/sign-in-providers.ts'

/** The provider that a session began at; a logout token of the provider names it by these. */
const AtProvider = z.object({
  providerId: z.string(),
  /** When the provider was added: another one with its id is not meant. */
  addedAt: z.string(),
  identity: z.string(),
  sidHash: z.string().optional(),
})

/** The signed-in member of a session. */
export const SessionMember = z.object({
  memberId: z.string(),
  tenantId: z.string(),
  /** When the member last proved who they are. */
  authenticatedAt: z.string(),
  /** The period of the code that the member signed in with; undefined once it was used for a proof, too. */
  codeStep: z.int().optional(),
  /** Present where the session began with a one-time link. */
  begun: z.literal('link').optional(),
  provider: AtProvider.optional(),
  address: z.string(),
  userAgent: z.string().nullable(),
})
export type SessionMember = z.infer<typeof SessionMember>

const StoredMember = z.object({ member: SessionMember.optional() })

/** The signed-in member in a session's stored data. */
export const memberIn = (data: unknown): SessionMember | undefined =>
  StoredMember.safeParse(data).data?.member

/** The member of a session; undefined once they were removed, or the way that the session began is no way to sign in any more. */
export async function memberOfSession(db: Pool, session: SessionMember): Promise<KnownMember | undefined> {
  const [known] = await findMembers(db, [session.memberId])
  if (known?.member.tenantId !== session.tenantId) return undefined
  return (await isAllowed(db, session, known)) ? known : undefined
}

/**
 * Whether the way that the session began is still a way to sign in: its provider is there, and the rule of the workspace allows
 * it.
 */
async function isAllowed(
  db: Pool,
  { tenantId, begun, provider }: SessionMember,
  known: KnownMember,
): Promise<boolean> {
  if (provider === undefined) return begun === 'link' || maySignInHere(known)
  const found = await findSignInProvider(db, tenantId, provider.providerId)
  return found?.createdAt === provider.addedAt
}

/** Whether a member may sign in with a password or a passkey: owners always may, and people of a reseller, whom no provider knows. */
export const maySignInHere = ({ member, providersOnly }: KnownMember): boolean =>
  !providersOnly || member.role === 'owner' || member.role === 'reseller'
