/** Where a browser begins to sign in at a provider of a workspace. */
export const beginPath = (tenantId: string, providerId: string): string =>
  `/dashboard/sign-in/${tenantId}/${providerId}`

/**
 * Where the provider sends the browser back to. Each provider has its own, so that the answer of one is never taken for the
 * answer of another.
 */
export const redirectPath = (tenantId: string, providerId: string): string =>
  `${beginPath(tenantId, providerId)}/callback`

/** Where the servers of the provider say that a session has ended. It is no page of the dashboard. */
export const backChannelPath = (tenantId: string, providerId: string): string =>
  `/login/${tenantId}/${providerId}/logout`
