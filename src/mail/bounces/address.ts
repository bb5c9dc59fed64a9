/** Where senders of mails tell of bounces. No workspace has this name, so it shadows no address of theirs. */
export const bouncePath = '/webhooks/mail'

/** The address for the sender of a tenant's mails. The token is part of what proves that it is the sender. */
export const bounceUrlOf = (baseUrl: string, tenantId: string, token: string): string =>
  `${baseUrl}${bouncePath}/${tenantId}?token=${encodeURIComponent(token)}`
