import type { FastifyInstance, preParsingHookHandler, RouteOptions } from 'fastify'
import { z } from 'zod'
import { someOf } from '../domain/plain-text.ts'
import type { AsOf } from '../history/moment.ts'
import { inUtc, momentIn, notAsDescribed } from './schemas.ts'
import { RefusedInput } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The query parameters of a page. A described route has them in its schema. */
    query?: z.ZodObject
    /**
     * Parameters that the route does not know are ignored, because others add them to its address: `always`, or `in links`,
     * which people open (GET) from mails and other websites, while forms stay strict. A parameter that asks for a dry run is
     * refused nevertheless.
     */
    foreignQuery?: 'always' | 'in links'
  }
}

/**
 * Refuses query parameters that a route does not know, on every route that is registered after it: what a caller asks for is
 * done or refused, never ignored. Runs after authentication and before the body is read.
 */
export function refuseUnknownParameters(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.wrongMethod) return
    route.preParsing = [checking(route), ...[route.preParsing ?? []].flat()]
    if (!route.schema || route.schema.hide || route.config?.foreignQuery === 'always') return
    route.schema = { ...route.schema, response: { ...notAsDescribed(), ...Object(route.schema.response) } }
  })
}

/** Whether a route changes nothing. */
export const onlyReads = ({ method }: Pick<RouteOptions, 'method'>): boolean =>
  [method].flat().every((one) => one === 'GET' || one === 'HEAD')

function checking(route: RouteOptions): preParsingHookHandler {
  const known = parametersOf(route)
  const reads = onlyReads(route)
  const foreign = route.config?.foreignQuery
  const ignored = foreign === 'always' || (foreign === 'in links' && reads)
  return (request, _reply, payload, done) => {
    let unknown: string[] | undefined
    for (const name in Object(request.query)) {
      if (known.names.has(name) || isPair(known, name)) continue
      if (ignored && !asksForDryRun(name)) continue
      unknown ??= []
      unknown.push(name)
    }
    if (unknown)
      done(new RefusedInput(refusal(unknown, known.names, reads, route.config?.noDryRun ?? ofPages)))
    else done(null, payload)
  }
}

/** `pairs` are parameters that hold pairs: `metadata` is sent as `metadata[order]=4711`. */
type Known = { names: ReadonlySet<string>; pairs: ReadonlySet<string> }

function parametersOf({ config, schema, url }: RouteOptions): Known {
  const query = config?.query ?? schema?.querystring ?? z.object({})
  if (!(query instanceof z.ZodObject)) throw new Error(`the query of ${url} must be a z.object`)
  const names = Object.keys(query.shape)
  return { names: new Set(names), pairs: new Set(names.filter((name) => holdsPairs(query.shape[name]))) }
}

const holdsPairs = (schema: unknown): boolean =>
  schema instanceof z.ZodRecord || (schema instanceof z.ZodOptional && holdsPairs(schema.unwrap()))

/** Objects drop a pair named `__proto__`, so it is unknown. */
function isPair({ pairs }: Known, name: string): boolean {
  if (pairs.size === 0) return false
  const [, of = '', key] = /^([^[]+)\[(.*)\]$/su.exec(name) ?? []
  return pairs.has(of) && key !== '__proto__'
}

/** Why a form of a page has no dry run. */
const ofPages = 'it is a form of a page'

/** `dryRun` in any spelling. */
const asksForDryRun = (name: string): boolean => /^dry[_-]?run$/i.test(name)

function refusal(
  unknown: readonly string[],
  known: ReadonlySet<string>,
  reads: boolean,
  why: string,
): string {
  const dryRun = unknown.find(asksForDryRun)
  if (dryRun !== undefined && known.has('dryRun'))
    return `unknown query parameter ${someOf([dryRun])}, write dryRun; nothing was done`
  if (dryRun !== undefined && !reads)
    return `unknown query parameter ${someOf([dryRun])}; this operation has no dry run, because ${why}; nothing was done`
  const names = [...known].join(', ')
  const advice = known.size === 0 ? 'this route has no query parameters' : `this route has ${names}`
  return `unknown query parameter${unknown.length === 1 ? '' : 's'} ${someOf(unknown)}; ${advice}`
}

/** A past moment: a time, or the sequence of an event, which means right after that event. */
export const pastMoment = z.union([
  z.string().regex(/^\d{1,9}$/, 'must be the sequence of an event'),
  momentIn,
])

/** What {@link pastMoment} may be, in words. */
export const momentHelp =
  'an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included'

export const asOf = pastMoment.optional().meta({
  description: `Return the state at this moment: ${momentHelp}`,
  example: '2026-11-21T09:30:00.000Z',
})

export const asOfQuery = z.strictObject({ asOf })

/** The moment of a text that {@link pastMoment} accepts. */
export const asOfIn = (text: string): AsOf =>
  /^\d+$/.test(text) ? { sequence: Number(text) } : { time: inUtc(text) }

/** @returns undefined for the present */
export const asOfFrom = (text: string | undefined): AsOf | undefined =>
  text === undefined ? undefined : asOfIn(text)
