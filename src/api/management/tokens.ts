import { z } from 'zod'
import { type ListedToken, listTokens, tokenStatusAt } from '../../../projections/tokens/list.ts'
import { momentOf } from '../../commands/origin.ts'
import { Scope } from '../../domain/tokens/events.ts'
import { Slug } from '../../domain/values.ts'
import { revokeToken } from '../../gate/operations/revoke-token.ts'
import type { ApprovalPorts } from '../../gate/ports.ts'
import { callerIn } from '../../http/authenticate.ts'
import type { Cursors } from '../../http/cursor.ts'
import { gatedRoute } from '../../http/gate.ts'
import { answer, errors, momentOut, pageOf, pageQuery } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'
import { answerPage } from './page.ts'

const tokenName = z.string().meta({ description: 'The name that the token was given', example: 'CI' })

const resellerId = z.string().meta({
  description: 'The reseller whom the token works for. Absent for a token of the vendor',
  example: 'rsl_06f5w3k8hx7vq2m4n9t1r0s5zc',
})

const identity = z
  .object({
    tenantId: Slug,
    tokenId: z.string(),
    name: tokenName,
    scopes: z.array(Scope),
    expiresAt: momentOut.nullable(),
    resellerId: resellerId.optional(),
  })
  .meta({ id: 'TokenIdentity', description: 'The token of the request, and what it may do' })

const tokenOut = z
  .object({
    id: z.string().meta({ description: 'The id of the token', example: 'tok_06f5w3k8hx7vq2m4n9t1r0s5zc' }),
    name: tokenName,
    status: z
      .enum(['active', 'revoked', 'member_removed', 'expired'])
      .meta({ description: 'Requests with a token are rejected unless it is `active`', example: 'active' }),
    scopes: z.array(Scope),
    memberId: z.string().nullable().meta({
      description: 'The member it belongs to; null for a token that an operator made',
      example: 'mem_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    resellerId: resellerId.optional(),
    createdAt: momentOut,
    expiresAt: momentOut.nullable(),
    revokedAt: momentOut.nullable(),
    lastUsedAt: momentOut.nullable().meta({
      description:
        'When it was last used, some seconds behind, since uses are recorded in batches; null if it never was',
      example: '2026-11-24T08:15:00.000Z',
    }),
  })
  .meta({ id: 'Token', description: 'An access token, without its secret' })

/** Tokens are listed and revoked here; people make them, in the dashboard or on the host. */
export function tokenRoutes(app: ZodApp, ports: ApprovalPorts, cursors: Cursors): void {
  verifyRoute(app)
  listRoute(app, ports, cursors)
  revokeRoute(app, ports)
}

function verifyRoute(app: ZodApp): void {
  app.get(
    '/v1/tokens/verify',
    {
      config: { scope: 'any', resellers: true },
      schema: {
        operationId: 'verifyToken',
        tags: ['Tokens'],
        summary: 'Read the tenant and the scopes of this token',
        description: 'Any valid token may ask. Use it to check a token before it is stored.',
        response: { 200: answer('The token', identity), ...errors(403) },
      },
    },
    async (request) => {
      const { tenantId, tokenId, name, scopes, expiresAt, resellerId } = callerIn(request)
      const reseller = resellerId !== undefined && { resellerId }
      return { tenantId, tokenId, name, scopes: [...scopes], expiresAt, ...reseller }
    },
  )
}

function listRoute(app: ZodApp, ports: Ports<'db' | 'now'>, cursors: Cursors): void {
  app.get(
    '/v1/tokens',
    {
      config: { scope: 'danger' },
      schema: {
        operationId: 'listTokens',
        tags: ['Tokens'],
        summary: 'List API tokens, newest first',
        description: 'A token itself is shown once, to the person who makes it, and is in no list.',
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of tokens', pageOf(tokenOut)), ...errors(400, 403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const now = momentOf(ports)
      return answerPage(
        cursors,
        [tenantId, 'tokens'],
        request.query,
        (keyset) => listTokens(ports.db, tenantId, { live: false, now }, keyset),
        (listed) => listed.map((one) => tokenView(one, now)),
      )
    },
  )
}

const revoked = { token: { status: 'revoked', revokedAt: '2026-11-24T14:05:12.000Z' } }

function revokeRoute(app: ZodApp, ports: ApprovalPorts): void {
  gatedRoute(app, ports, revokeToken, {
    operationId: 'revokeToken',
    tags: ['Tokens'],
    summary: 'Revoke an API token permanently',
    description: 'A token revokes itself without an approval by `POST /v1/logout`.',
    response: { 200: answer('The token', z.object({ token: tokenOut }), revoked), ...errors(404, 409) },
    reply: (listed) => ({ token: tokenView(listed, momentOf(ports)) }),
  })
}

function tokenView(listed: ListedToken, now: string): z.infer<typeof tokenOut> {
  const { tokenId, name, scopes, memberId, createdAt, expiresAt, revokedAt, resellerId } = listed.token
  const { lastUsedAt } = listed
  const status = tokenStatusAt(listed, now)
  return {
    id: tokenId,
    name,
    status,
    scopes: [...scopes],
    memberId,
    ...(resellerId !== undefined && { resellerId }),
    createdAt,
    expiresAt,
    revokedAt,
    lastUsedAt,
  }
}
