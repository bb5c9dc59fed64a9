import type { FastifyBaseLogger, FastifyInstance, LightMyRequestResponse } from 'fastify'
import { type Logger, pino } from 'pino'
import { createApp } from '../../src/app/http.ts'
import { createReadiness } from '../../src/app/readiness.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import type { ConnectionBounds } from '../../src/config/shown.ts'
import type { Plan } from '../../src/domain/tenants/events.ts'
import { combinableScopes, type Scope } from '../../src/domain/tokens/events.ts'
import { createCursors } from '../../src/http/cursor.ts'
import { type Limits, noLimits } from '../../src/limits/limits.ts'
import type { AllPorts } from '../../src/ports.ts'
import { type CheckAnswer, createAnswerCheck } from './described.ts'
import { openTestLedger, origin, type TestLedger, uniqueId } from './ledger.ts'
import { release } from './release.ts'
import { waitMs } from './time-limits.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'HEAD'

export type Answer = {
  status: number
  /** Parsed when it is JSON, as text otherwise. */
  body: unknown
  text: string
  headers: LightMyRequestResponse['headers']
}

/** Calls the application without a socket. A response that does not match the OpenAPI document fails the test. */
export type Ask = (
  method: Method,
  url: string,
  options?: { token?: string | undefined; body?: unknown; raw?: string; headers?: Record<string, string> },
) => Promise<Answer>

export type TestApi = {
  app: FastifyInstance
  ledger: TestLedger
  ask: Ask
  close(): Promise<void>
}

type LedgerOptions = NonNullable<Parameters<typeof openTestLedger>[0]>
type AppOptions = {
  limits?: Limits
  trustProxy?: string[]
  baseUrl?: string
  connections?: ConnectionBounds
  /** Whether the installation has a token for its metrics. */
  metrics?: boolean
  log?: Logger
  /** The time limit of a request, after which it gets 503. Patient by default. */
  requestLimitMs?: number
}

/**
 * @param options `limits` are off by default, because the clock of a test does not move; `baseUrl` is the base of
 *   handed-out URLs, for tests that listen on it
 */
export async function openTestApi({
  limits,
  trustProxy,
  baseUrl,
  connections,
  ...options
}: Omit<LedgerOptions, 'limits'> & AppOptions = {}): Promise<TestApi> {
  const ledger = await openTestLedger(options)
  const app = await createTestApp(ledger, ledger.ports, {
    ...(limits && { limits }),
    ...(trustProxy && { trustProxy }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(connections && { connections }),
  })
  const api: TestApi = {
    app,
    ledger,
    ask: askOf(app),
    async close() {
      await app.close()
      await ledger.close()
      release(api)
    },
  }
  return api
}

/** The token for the metrics. */
export const metricsToken = 'metrics-token-of-the-tests'

/** Another application on the same stores, for example with failing services. */
export function createTestApp(
  ledger: TestLedger,
  ports: AllPorts,
  {
    limits = noLimits,
    trustProxy,
    baseUrl = 'http://localhost:8080',
    connections,
    metrics = true,
    log = pino({ level: 'silent' }),
    requestLimitMs = waitMs,
  }: AppOptions = {},
): Promise<FastifyInstance> {
  return createApp({
    ports,
    cursors: createCursors(ledger.masterKey.cursors),
    cookieKey: ledger.masterKey.cookies,
    readiness: createReadiness(ports, undefined),
    baseUrl,
    limits,
    // Tests share two cores, so the event loop may be late for reasons outside the test.
    maxEventLoopDelayMs: 0,
    trustProxy,
    metricsToken: metrics ? metricsToken : undefined,
    ...(connections && { connections }),
    requestLimitMs,
    log: log as FastifyBaseLogger,
  })
}

/** Shared, because every application has the same OpenAPI document, and parsing it takes longer than most tests. */
let answerCheck: CheckAnswer | undefined

export function askOf(app: FastifyInstance): Ask {
  answerCheck ??= createAnswerCheck(app.swagger())
  const check = answerCheck
  return async (method, url, { token, body, raw, headers = {} } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await app.inject({
      method,
      url,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    })
    const contentType = response.headers['content-type']?.toString()
    const isJson = /^application\/(?:json|[\w.]+\+json)/.test(contentType ?? '') && response.body !== ''
    const parsed = isJson ? (JSON.parse(response.body) as unknown) : response.body
    check(method, url, { status: response.statusCode, contentType, body: parsed })
    return {
      status: response.statusCode,
      body: parsed,
      text: response.body,
      headers: response.headers,
    }
  }
}

export type TestTenant = {
  tenantId: string
  /** A token with every scope. */
  token: string
  tokenId: string
  tokenWith(...scopes: Scope[]): Promise<string>
}

export async function makeTenant(ledger: TestLedger, plan: Plan = 'unlimited'): Promise<TestTenant> {
  const tenantId = uniqueId('tenant')
  const { ports } = ledger
  await createTenant(ports, { tenantId, name: 'A tenant', plan }, origin)
  const make = (scopes: readonly Scope[]) =>
    createToken(ports, { tenantId, name: 'test', scopes, expiresAt: null }, origin)
  const { token, tokenId } = await make(combinableScopes)
  return { tenantId, token, tokenId, tokenWith: async (...scopes) => (await make(scopes)).token }
}
