import { z } from 'zod'
import { Scope } from '../../domain/tokens/scopes.ts'
import { Slug } from '../../domain/values.ts'
import { callerIn } from '../../http/authenticate.ts'
import { answer, errors, momentOut } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/zod-app.ts'

const identity = z
  .object({
    tenantId: Slug,
    tokenId: z.string(),
    name: z.string(),
    scopes: z.array(Scope),
    expiresAt: momentOut.nullable(),
  })
  .meta({ id: 'TokenIdentity' })

export function tokenRoutes(app: ZodApp): void {
  app.get(
    '/v1/tokens/verify',
    {
      config: { scope: 'any' },
      schema: {
        operationId: 'verifyToken',
        tags: ['Tokens'],
        summary: 'Read the tenant and the scopes of this token',
        response: { 200: answer('The token', identity), ...errors(403) },
      },
    },
    async (request) => {
      const { tenantId, tokenId, name, scopes, expiresAt } = callerIn(request)
      return { tenantId, tokenId, name, scopes: [...scopes], expiresAt }
    },
  )
}
