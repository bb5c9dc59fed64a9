import type { SignInProvider } from '../domain/sign-in-providers/provider.ts'

/** Where a browser begins to sign in to the dashboard at a provider of a workspace. */
export const beginPath = (tenantId: string, providerId: string): string =>
  `/dashboard/sign-in/${tenantId}/${providerId}`

/** Where a browser begins to sign in to the portal of a tenant's customers. */
export const portalBeginPath = (tenantId: string, providerId: string): string =>
  `/portal/${tenantId}/sign-in/${providerId}`

/**
 * Where the provider sends the browser back to. Each provider has its own, so that the answer of one is never taken for the
 * answer of another.
 */
export const redirectPath = (
  tenantId: string,
  { providerId, audience }: Pick<SignInProvider, 'providerId' | 'audience'>,
): string => `${(audience ? portalBeginPath : beginPath)(tenantId, providerId)}/callback`

/** Where the servers of the provider say that a session has ended. It is no page of the dashboard. */
export const backChannelPath = (tenantId: string, providerId: string): string =>
  `/login/${tenantId}/${providerId}/logout`
