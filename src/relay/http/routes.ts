import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import { forAnyOrigin, preflight } from '../../api/client/origins.ts'
import { activateIn, deactivateIn, heartbeatIn, validateIn } from '../../api/client/schemas.ts'
import { keysetSeconds } from '../../domain/signing/signing.ts'
import { notFound, Problem } from '../../http/problem.ts'
import { activate, deactivate, heartbeat, type Served, settingsOf, validate } from '../calls.ts'
import { metricsOf } from '../metrics.ts'
import { json, type RelayAnswer, type RelayProgram } from './program.ts'
import { readJson } from './request.ts'

type Params = Readonly<Record<string, string>>
type Handler = (
  program: RelayProgram,
  request: IncomingMessage,
  params: Params,
) => RelayAnswer | Promise<RelayAnswer>

type Methods = Readonly<Record<string, Handler>>

/** What answers a path: a function for each method, and headers that every answer has. */
type Route = { path: RegExp; methods: Methods; headers?: Record<string, string> }

/** @throws Problem 404 for another tenant or product than the relay's */
function requirePlace({ relay }: RelayProgram, { tenantId, productId }: Params): void {
  const standing = relay.standing()
  if (standing.kind === 'waiting') return
  if (tenantId !== standing.enrollment.tenantId) throw notFound('tenant')
  if (productId !== undefined && productId !== standing.enrollment.productId) throw notFound('product')
}

/** Pages of any origin may read what the client interface answers. */
const ofClient = (path: string, methods: Methods): Route => ({
  path: new RegExp(`^/(?<tenantId>[^/]+)/${path}$`),
  headers: forAnyOrigin,
  methods: { ...methods, OPTIONS: () => ({ status: 204, headers: preflight }) },
})

const call = <S extends z.ZodType>(
  name: string,
  schema: S,
  answer: (served: Served, body: z.output<S>) => object,
): Route =>
  ofClient(`(?<productId>[^/]+)/${name}`, {
    POST: async (program, request, params) => {
      requirePlace(program, params)
      return json(answer(program, await readJson(request, schema)))
    },
  })

/** The pages are loaded when the first of them is opened. */
const admin: Handler = async (program, request, { page = '' }) =>
  (await import('../admin/routes.ts')).answerPage(program, request, page)

const routes: readonly Route[] = [
  {
    path: /^\/(?:health|livez)$/,
    methods: { GET: ({ relay }) => json({ status: 'ok', relay: relay.standing().kind }) },
  },
  {
    path: /^\/metrics$/,
    methods: {
      GET: ({ relay }) => ({
        status: 200,
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        body: metricsOf(relay),
      }),
    },
  },
  { path: /^\/admin(?:\/(?<page>.*))?$/, methods: { GET: admin, POST: admin } },
  ofClient('\\.well-known/service-keys', {
    GET: (program, _request, params) => {
      requirePlace(program, params)
      const standing = program.relay.standing()
      if (!('certified' in standing)) throw notFound('tenant')
      const { keys } = standing.certified
      return json({ keys }, { 'cache-control': `public, max-age=${String(keysetSeconds)}` })
    },
  }),
  ofClient('(?<productId>[^/]+)/config', {
    GET: (program, _request, params) => {
      requirePlace(program, params)
      return json(settingsOf(program))
    },
  }),
  call('activate', activateIn, activate),
  call('validate', validateIn, validate),
  call('heartbeat', heartbeatIn, heartbeat),
  call('deactivate', deactivateIn, deactivate),
  ofClient('(?<productId>[^/]+)/(?:consume|uses|allowance)', {
    POST: (program, _request, params) => {
      requirePlace(program, params)
      throw new Problem(404, 'invalid_request', "a relay counts no uses; ask the vendor's server")
    },
  }),
]

/** @returns undefined for a path that does not exist */
export function routeOf(path: string): (Omit<Route, 'path'> & { params: Params }) | undefined {
  for (const { path: pattern, ...route } of routes) {
    const found = pattern.exec(path)
    if (found) return { ...route, params: { ...found.groups } }
  }
  return undefined
}
