import type { FastifyBaseLogger, FastifyInstance, LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { createReadiness } from '../../src/bin/readiness.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { createToken } from '../../src/commands/tokens.ts'
import type { Plan } from '../../src/domain/tenant/events.ts'
import { Scope } from '../../src/domain/token/scopes.ts'
import { createApp } from '../../src/http/app.ts'
import { createCursors } from '../../src/http/cursor.ts'
import { type Limits, noLimits } from '../../src/limits/limits.ts'
import { openTestLedger, origin, type TestLedger, uniqueId } from './ledger.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'HEAD'

export type Answer = {
  status: number
  /** Parsed when it is JSON, as text otherwise. */
  body: unknown
  text: string
  headers: LightMyRequestResponse['headers']
}

/** Asks the application directly, with no socket between. */
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

/**
 * @param options `limits` are off unless given, since the clock of a test stands still; `baseUrl` is for whoever has
 *   it listen there
 */
export async function openTestApi(
  options: { limits?: Limits; trustProxy?: string[]; baseUrl?: string } = {},
): Promise<TestApi> {
  const ledger = await openTestLedger()
  const app = await createApp({
    services: ledger.services,
    cursors: createCursors(ledger.masterKey.cursors),
    cookieKey: ledger.masterKey.cookies,
    readiness: createReadiness(ledger.services, undefined),
    baseUrl: options.baseUrl ?? 'http://localhost:8080',
    limits: options.limits ?? noLimits,
    trustProxy: options.trustProxy,
    log: pino({ level: 'silent' }) as FastifyBaseLogger,
  })
  return {
    app,
    ledger,
    ask: askOf(app),
    async close() {
      await app.close()
      await ledger.close()
    },
  }
}

function askOf(app: FastifyInstance): Ask {
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
    const isJson = String(response.headers['content-type']).startsWith('application/json')
    return {
      status: response.statusCode,
      body: isJson && response.body !== '' ? (JSON.parse(response.body) as unknown) : response.body,
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
  const { services } = ledger
  await createTenant(services, { tenantId, name: 'A tenant', plan }, origin)
  const make = (scopes: readonly Scope[]) =>
    createToken(services, { tenantId, name: 'test', scopes, expiresAt: null }, origin)
  const { token, tokenId } = await make(Scope.options)
  return { tenantId, token, tokenId, tokenWith: async (...scopes) => (await make(scopes)).token }
}
