import type { Fields } from './descriptions.ts'

/** Tenants, tokens, approvals, lists, and who did what and when. */
export const accessFields: Fields = {
  tenantId: { description: 'The id of the tenant, which is the workspace of one vendor', example: 'acme' },
  tokenId: { description: 'The id of the token', example: 'tok_06f5w3k8hx7vq2m4n9t1r0s5zc' },
  scopes: { description: 'What the token may do', example: ['products:read', 'licenses:read'] },
  requestId: {
    description: 'The `Request-Id` of the request that caused it',
    example: 'req_06f5w3k8hx7vq2m4n9t1r0s5zc',
  },
  actor: {
    description:
      'Who did it: `member:<id>`, `token:<id>`, `operator:<name>`, `provider:<name>` or `system:<part>`',
    example: 'member:mem_06f5w3k8hx7vq2m4n9t1r0s5zc',
  },
  at: { description: 'When it happened', example: '2026-11-21T09:30:00.000Z' },
  time: { description: 'When it happened', example: '2026-11-21T09:42:10.000Z' },
  createdAt: { description: 'When it was created', example: '2026-11-21T09:30:00.000Z' },
  updatedAt: { description: 'When it was last changed', example: '2026-11-24T14:05:12.000Z' },
  startedAt: { description: 'When it started', example: '2026-11-21T09:30:00.000Z' },
  revokedAt: { description: 'When it was revoked', orNull: 'if it was not', example: null },
  firstSeenAt: { description: 'The first of these calls', example: '2026-11-22T07:58:31.000Z' },
  lastSeenAt: { description: 'The last of these calls', example: '2026-11-24T08:15:00.000Z' },
  day: { description: 'The start of the day in UTC', example: '2026-11-22T00:00:00.000Z' },
  supportEmail: {
    description: 'Where your customers write to, shown in the portal',
    orNull: 'shows no address',
    example: 'support@acme.example',
  },
}
