import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { z } from 'zod'
import type { Allowance } from '../../../access/attempts.ts'
import {
  loginLifetimeSeconds,
  openLoginRequest,
  pollIntervalSeconds,
  recordPoll,
} from '../../../access/login-requests.ts'
import { redeemLogin } from '../../../commands/logins.ts'
import { revokeToken } from '../../../commands/tokens.ts'
import { isSecret } from '../../../credentials/secret.ts'
import { sha256 } from '../../../credentials/sha256.ts'
import { combinableScopes, Scope } from '../../../domain/tokens/events.ts'
import { callerIn, originOf } from '../../../http/authenticate.ts'
import { addressOf } from '../../../http/listening.ts'
import { Problem } from '../../../http/problem.ts'
import { answer, errorBody, errors, errorsWith, momentOut, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import { callerOf } from '../../../limits/address.ts'
import type { Ports } from '../../../ports.ts'
import { deviceGrant, form, OAuthError, oauthRefusal, speakOAuth } from './oauth.ts'

/** The caller has no token yet, so limits count addresses: starting is rare, polling is frequent. */
const starting: Allowance = { burst: 20, intervalMs: 6000 }
const polling: Allowance = { burst: 120, intervalMs: 500 }

/** The scopes of a client that requests none: the whole management interface. */
const managementScopes = combinableScopes.filter((scope) => scope !== 'licenses:runtime')

const clientId = text(200).optional().meta({
  description: 'The client id of an OAuth library; any text. Shown to the person if client_name is absent',
  example: 'build-1',
})

const loginIn = z.strictObject({
  client_id: clientId,
  client_name: text(100)
    .optional()
    .meta({ description: 'Shown to the person who approves', example: 'keyledger on build-1' }),
  scopes: z
    .array(Scope)
    .min(1)
    .max(Scope.options.length)
    .optional()
    .meta({
      description:
        'The requested scopes; defaults to all of the management interface. `danger` is granted only if the person ' +
        'turns it on.',
    }),
  scope: text(1000)
    .optional()
    .meta({ description: 'The scopes as in OAuth: one string, separated by spaces' }),
})

type LoginInput = z.infer<typeof loginIn>

const tokenIn = z.strictObject({
  device_code: text(200).meta({ description: 'The `device_code` that the start returned' }),
  client_id: clientId,
  grant_type: text(200)
    .optional()
    .meta({ description: 'Sent by OAuth libraries; required in a form', example: deviceGrant }),
})

const loginOut = z
  .object({
    device_code: z.string().meta({
      description: 'Used to poll; keep it secret',
      example: 'kl_dvc_9c2Lq7TzVb4mXw8RkN1sYd6GhJ3pFa5e',
    }),
    user_code: z.string().meta({ description: 'Show it to the person', example: 'BDWP-HQZK' }),
    verification_uri: z.string().meta({
      description: 'Where the person signs in and enters the code',
      example: 'https://licenses.acme.example/login',
    }),
    verification_uri_complete: z.string().meta({
      description: 'The same with the code in it, for a link or a QR code',
      example: 'https://licenses.acme.example/login?code=BDWP-HQZK',
    }),
    expires_in: z
      .int()
      .meta({ description: 'Seconds until the codes expire', example: loginLifetimeSeconds }),
    interval: z.int().meta({ description: 'Seconds between two polls', example: pollIntervalSeconds }),
  })
  .meta({ id: 'DeviceLogin', description: 'The codes of a device authorization' })

const tokenOut = z
  .object({
    access_token: z.string().meta({
      description: 'The access token, shown only in this response',
      example: 'kl_pat_…',
    }),
    token_type: z.literal('Bearer').meta({ description: 'How to send it: `Authorization: Bearer <token>`' }),
    scopes: z.array(Scope),
    scope: z.string().meta({
      description: 'The scopes in one string, separated by spaces',
      example: 'products:read licenses:read',
    }),
    tenant_id: z.string(),
    expires_at: momentOut.nullable(),
    expires_in: z.int().optional().meta({
      description: 'Seconds until it expires; absent for a token that does not',
      example: 31_536_000,
    }),
  })
  .meta({ id: 'DeviceLoginToken', description: 'The token of an approved device authorization' })

/** Authorizes a device without a browser: a person approves it in the dashboard (RFC 8628). */
export function loginRoutes(
  app: ZodApp,
  ports: Ports<'attempts' | 'db' | 'execute' | 'fingerprint' | 'now' | 'randomBytes'>,
  baseUrl: string,
): void {
  void app.register(async (oauth: ZodApp) => {
    speakOAuth(oauth, ['client_id', 'client_name', 'scope', 'device_code', 'grant_type'])
    startRoute(oauth, ports, baseUrl)
    pollRoute(oauth, ports)
  })
  logoutRoute(app, ports)
}

const consumes = ['application/json', form]

/** @throws OAuthError `invalid_scope` */
function requestedScopes({ scopes, scope }: LoginInput): readonly Scope[] {
  if (scope === undefined) return scopes ?? managementScopes
  // One or the other, not both.
  if (scopes !== undefined) throw new OAuthError('invalid_request')
  const requested = z.array(Scope).min(1).safeParse(scope.split(' ').filter(Boolean))
  if (requested.success) return [...new Set(requested.data)]
  throw new OAuthError('invalid_scope')
}

/** @throws OAuthError `invalid_request`, `unsupported_grant_type` */
function checkGrant(request: FastifyRequest, grantType: string | undefined): void {
  if (grantType === deviceGrant) return
  if (grantType !== undefined) throw new OAuthError('unsupported_grant_type')
  if (request.headers['content-type']?.startsWith(form)) throw new OAuthError('invalid_request')
}

function startRoute(
  app: ZodApp,
  ports: Ports<'attempts' | 'db' | 'fingerprint' | 'now' | 'randomBytes'>,
  baseUrl: string,
): void {
  app.post(
    '/v1/login/device',
    {
      onRequest: allowing(ports, 'login start', starting),
      config: { repeatable: true, noDryRun: 'a login exists only once its codes are shown' },
      schema: {
        operationId: 'startDeviceLogin',
        tags: ['Login'],
        summary: 'Start a device authorization: get a code that a person approves in the dashboard',
        description:
          'RFC 8628: show the person `user_code` and `verification_uri`, and poll `POST /v1/login/device/token` with `device_code` ' +
          'every `interval` seconds. Takes JSON, or a form as OAuth libraries send it.',
        security: [],
        consumes,
        body: loginIn.nullish(),
        response: {
          200: answer('The codes', loginOut),
          ...errorsWith(errorBody, 429),
          400: answer('Malformed: see `error`', oauthRefusal),
        },
      },
    },
    async (request, reply) => {
      const fields = request.body ?? {}
      const { client_id: clientId, client_name: clientName } = fields
      const scopes = requestedScopes(fields)
      const named = clientName ?? clientId?.slice(0, 100) ?? 'Unnamed API client'
      const requested = { clientName: named, scopes, address: addressOf(request) }
      const { deviceCode, userCode } = await openLoginRequest(
        ports.db,
        ports.fingerprint,
        ports.randomBytes,
        requested,
        ports.now(),
      )
      return reply.send({
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

function pollRoute(app: ZodApp, ports: Ports<'attempts' | 'db' | 'execute' | 'now' | 'randomBytes'>): void {
  app.post(
    '/v1/login/device/token',
    {
      onRequest: allowing(ports, 'login poll', polling),
      config: {
        repeatable: true,
        noDryRun: 'its answer depends on a person, and a poll changes nothing else',
      },
      schema: {
        operationId: 'pollDeviceLogin',
        tags: ['Login'],
        summary: 'Poll for the token, no faster than the interval; it is returned once',
        description:
          'The answer is 400 until a person has decided: go on polling on `authorization_pending`, wait longer after `slow_down`, and ' +
          'start again after any other `error`.',
        security: [],
        consumes,
        body: tokenIn,
        response: {
          200: answer('The token', tokenOut),
          ...errorsWith(errorBody, 429),
          400: answer('Not yet, or never: see `error`', oauthRefusal),
        },
      },
    },
    async (request, reply) => {
      const { device_code: deviceCode, grant_type: grantType } = request.body
      checkGrant(request, grantType)
      if (!isSecret(deviceCode)) throw new OAuthError('invalid_grant')
      const deviceCodeHash = sha256(deviceCode)
      const poll = await recordPoll(ports.db, deviceCodeHash, ports.now())
      if (!poll) return reply.code(400).header('error-code', 'expired_token').send({ error: 'expired_token' })
      if (poll.tooSoon) return reply.code(400).header('error-code', 'slow_down').send({ error: 'slow_down' })
      const redemption = await redeemLogin(ports, deviceCodeHash, {
        requestId: request.id,
        address: addressOf(request),
      })
      if (redemption.status !== 'token') {
        const error = errorOf[redemption.status]
        return reply.code(400).header('error-code', error).send({ error })
      }
      return reply.send({
        access_token: redemption.token,
        token_type: 'Bearer' as const,
        scopes: [...redemption.scopes],
        scope: redemption.scopes.join(' '),
        tenant_id: redemption.tenantId,
        expires_at: redemption.expiresAt,
        ...(redemption.expiresAt !== null && {
          expires_in: secondsUntil(redemption.expiresAt, ports.now()),
        }),
      })
    },
  )
}

const secondsUntil = (moment: string, now: Date): number =>
  Math.max(0, Math.floor((Date.parse(moment) - now.getTime()) / 1000))

const errorOf = { pending: 'authorization_pending', denied: 'access_denied', spent: 'expired_token' } as const

function logoutRoute(app: ZodApp, ports: Ports<'db' | 'execute' | 'now'>): void {
  app.post(
    '/v1/logout',
    {
      // A revoked token cannot authenticate a replay.
      config: { scope: 'any', resellers: true, idempotencyKey: 'ignored', repeatable: true, dryRun: true },
      schema: {
        operationId: 'logout',
        tags: ['Login'],
        summary: 'Revoke the token of this request',
        description:
          'The token is rejected from the next request on. Any token may revoke itself, without an approval.',
        response: {
          200: answer(
            'The token is revoked',
            z.object({ revoked: z.literal(true).meta({ description: 'Always true: it is revoked' }) }),
          ),
          ...errors(403),
        },
      },
    },
    async (request) => {
      const { tenantId, tokenId } = callerIn(request)
      await revokeToken(ports, tenantId, tokenId, originOf(request))
      return { revoked: true as const }
    },
  )
}

/** Counts a request against the limit of its address, before its body is read. */
const allowing =
  (ports: Ports<'attempts'>, what: string, allowance: Allowance): onRequestAsyncHookHandler =>
  async (request) => {
    const bucket = `${what} ${callerOf(addressOf(request))}`
    const attempt = await ports.attempts.take([{ bucket, allowance }])
    if (attempt.allowed) return
    throw new Problem(429, 'rate_limited', 'too many requests from this address; wait and retry', {
      'retry-after': String(attempt.retryAfterSeconds),
    })
  }
