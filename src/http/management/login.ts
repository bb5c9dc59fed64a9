import { z } from 'zod'
import { type Allowance, callerOfAddress } from '../../access/attempts.ts'
import {
  loginLifetimeSeconds,
  notePoll,
  openLoginRequest,
  pollIntervalSeconds,
} from '../../access/login-requests.ts'
import { redeemLogin } from '../../commands/logins.ts'
import type { Services } from '../../commands/services.ts'
import { revokeToken } from '../../commands/tokens.ts'
import { sha256 } from '../../credentials/sha256.ts'
import { Scope } from '../../domain/token/scopes.ts'
import { callerIn, originOf } from '../authenticate.ts'
import { Problem } from '../problem.ts'
import { answer, errorBody, errors, errorsWith, momentOut, text } from '../schemas.ts'
import type { ZodApp } from '../zod-app.ts'

/** Nobody has shown a token yet, so it is addresses that are counted: starting is rare, polling is not. */
const starting: Allowance = { burst: 20, intervalMs: 6000 }
const polling: Allowance = { burst: 120, intervalMs: 500 }

/** What a program that names no scopes asks for: all of the management interface. */
const managementScopes = Scope.options.filter((scope) => scope !== 'licenses:runtime')

const loginIn = z.strictObject({
  client_name: text(100)
    .optional()
    .meta({ description: 'Shown to the person who decides', example: 'keyledger on build-1' }),
  scopes: z
    .array(Scope)
    .min(1)
    .max(Scope.options.length)
    .optional()
    .meta({
      description:
        'What to ask for; all of the management interface when absent. `danger` is only granted if the person ' +
        'turns it on.',
    }),
})

const loginOut = z
  .object({
    device_code: z.string().meta({ description: 'To poll with; keep it to yourself' }),
    user_code: z.string().meta({ description: 'To show to the person', example: 'BDWP-HQZK' }),
    verification_uri: z.string(),
    verification_uri_complete: z.string(),
    expires_in: z.int().meta({ description: 'Seconds', example: loginLifetimeSeconds }),
    interval: z.int().meta({ description: 'Seconds between two polls', example: pollIntervalSeconds }),
  })
  .meta({ id: 'DeviceLogin' })

const tokenOut = z
  .object({
    access_token: z.string().meta({ description: 'This answer is the only place where it is shown' }),
    token_type: z.literal('Bearer'),
    scopes: z.array(Scope),
    tenant_id: z.string(),
    expires_at: momentOut.nullable(),
  })
  .meta({ id: 'DeviceLoginToken' })

const waiting = z
  .object({
    error: z.string().meta({
      description:
        '`authorization_pending`: nobody has decided yet; `slow_down`: polled faster than the interval; ' +
        '`access_denied`; `expired_token`: unknown, expired, or the token was given out already. Anything else says ' +
        'what is malformed',
    }),
  })
  .meta({ id: 'DeviceLoginError', example: { error: 'authorization_pending' } })

/** Signs in a program that has no browser: a person approves it in the dashboard (RFC 8628). */
export function loginRoutes(app: ZodApp, services: Services, baseUrl: string): void {
  startRoute(app, services, baseUrl)
  pollRoute(app, services)
  logoutRoute(app, services)
}

function startRoute(app: ZodApp, services: Services, baseUrl: string): void {
  app.post(
    '/v1/login/device',
    {
      schema: {
        operationId: 'startDeviceLogin',
        tags: ['Login'],
        summary: 'Begin to sign in a program: get a code that a person confirms in the dashboard',
        security: [],
        body: loginIn,
        response: {
          200: answer('The codes', loginOut),
          ...errorsWith(errorBody, 400, 429),
        },
      },
    },
    async (request, reply) => {
      await allow(services, 'login start', request.ip, starting)
      const { client_name: clientName = 'A program without a name', scopes = managementScopes } = request.body
      const asked = { clientName, scopes, address: request.ip }
      const { deviceCode, userCode } = await openLoginRequest(
        services.db,
        services.fingerprint,
        services.randomBytes,
        asked,
        services.now(),
      )
      return reply.header('cache-control', 'no-store').send({
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: `${baseUrl}/login`,
        verification_uri_complete: `${baseUrl}/login?code=${userCode}`,
        expires_in: loginLifetimeSeconds,
        interval: pollIntervalSeconds,
      })
    },
  )
}

function pollRoute(app: ZodApp, services: Services): void {
  app.post(
    '/v1/login/device/token',
    {
      schema: {
        operationId: 'pollDeviceLogin',
        tags: ['Login'],
        summary: 'Ask for the token, no faster than the interval; it is given out once',
        security: [],
        body: z.strictObject({ device_code: text(200) }),
        response: {
          200: answer('The token', tokenOut),
          ...errorsWith(errorBody, 429),
          400: answer('Not yet, or never: see `error`', waiting),
        },
      },
    },
    async (request, reply) => {
      await allow(services, 'login poll', request.ip, polling)
      reply.header('cache-control', 'no-store')
      const deviceCodeHash = sha256(request.body.device_code)
      const poll = await notePoll(services.db, deviceCodeHash, services.now())
      if (!poll) return reply.code(400).send({ error: 'expired_token' })
      if (poll.tooSoon) return reply.code(400).send({ error: 'slow_down' })
      const redemption = await redeemLogin(services, deviceCodeHash, request.id)
      if (redemption.status !== 'token') return reply.code(400).send({ error: errorOf[redemption.status] })
      return reply.send({
        access_token: redemption.token,
        token_type: 'Bearer' as const,
        scopes: [...redemption.scopes],
        tenant_id: redemption.tenantId,
        expires_at: redemption.expiresAt,
      })
    },
  )
}

const errorOf = { pending: 'authorization_pending', denied: 'access_denied', spent: 'expired_token' } as const

function logoutRoute(app: ZodApp, services: Services): void {
  app.post(
    '/v1/logout',
    {
      // A token that is out is out; there is nobody left to replay an answer to.
      config: { scope: 'any', idempotencyKey: 'ignored' },
      schema: {
        operationId: 'logout',
        tags: ['Login'],
        summary: 'Revoke the token that this is called with',
        response: { 200: answer('It is revoked', z.object({ revoked: z.literal(true) })), ...errors(403) },
      },
    },
    async (request) => {
      const { tenantId, tokenId } = callerIn(request)
      await revokeToken(services, tenantId, tokenId, originOf(request))
      return { revoked: true as const }
    },
  )
}

async function allow(services: Services, what: string, address: string, allowance: Allowance): Promise<void> {
  const attempt = await services.attempts.take([{ bucket: `${what} ${callerOfAddress(address)}`, allowance }])
  if (attempt.allowed) return
  throw new Problem(429, 'rate_limited', 'too many requests from this address; wait and try again', {
    'retry-after': String(attempt.retryAfterSeconds),
  })
}
