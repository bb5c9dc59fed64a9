import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { sameDigest } from '../../credentials/sha256.ts'
import { readIcon } from '../../http/icon/icon.ts'
import { noSuchPath, Problem } from '../../http/problem.ts'
import { wholeNumberIn } from '../../numbers.ts'
import { AnswerUnusable } from '../answer.ts'
import type { RelayAnswer, RelayProgram } from '../http/program.ts'
import { acceptAnswer, makeRequest, RequestRefused } from '../requests.ts'
import { formIn } from './form.ts'
import { createSessions, type Session, type Sessions } from './sessions.ts'
import { logPage, type Notice, overviewPage, signInPage } from './view.ts'

const cookieName = 'keyledger-relay'
const shownEntries = 500

/** Of each relay that this process runs. */
const sessionsOf = new WeakMap<RelayProgram, Sessions>()

function sessionsFor(program: RelayProgram): Sessions {
  const sessions = sessionsOf.get(program) ?? createSessions(program.relay.clock.monotonic)
  sessionsOf.set(program, sessions)
  return sessions
}

/** Answers a request to a page of the administrator. @param page the path after `/admin/` */
export async function answerPage(
  program: RelayProgram,
  request: IncomingMessage,
  page: string,
): Promise<RelayAnswer> {
  const asset = assets[page]
  if (asset && request.method !== 'POST') return asset()
  if (request.method === 'POST' && page === 'sign-in') return signIn(program, request)
  const session = sessionIn(program, request)
  if (!session) return request.method === 'POST' ? toStart() : shown(signInPage())
  if (request.method !== 'POST') {
    if (page === '') return overview(program, session)
    if (page === 'log') return shown(logPage(program.relay.newest(shownEntries), session))
    throw noSuchPath()
  }
  const act = actions[page]
  if (!act) throw noSuchPath()
  const form = await formIn(request)
  if (!sameDigest(form.text('_csrf'), session.csrf))
    return overview(program, session, { kind: 'wrong', text: 'The form was too old. Try again.' }, 403)
  return act(program, session, form)
}

type Form = Awaited<ReturnType<typeof formIn>>
type Action = (program: RelayProgram, session: Session, form: Form) => RelayAnswer | Promise<RelayAnswer>

const actions: Readonly<Record<string, Action>> = {
  'sign-out': (program, session) => {
    sessionsFor(program).end(session)
    return toStart(`${cookieName}=; Path=/admin; Max-Age=0; HttpOnly; SameSite=Strict`)
  },
  free: ({ relay }, _session, form) => {
    relay.free(form.text('instance'))
    return toStart()
  },
  block: ({ relay }, _session, form) => {
    relay.block(form.text('instance'))
    return toStart()
  },
  unblock: ({ relay }, _session, form) => {
    const id = wholeNumberIn(form.text('blocked'), 1, Number.MAX_SAFE_INTEGER)
    if (id !== undefined) relay.unblock(id)
    return toStart()
  },
  request: (program, session) => {
    try {
      const request = makeRequest(program.database, program.key, program.relay.clock)
      program.relay.reload()
      const disposition = 'attachment; filename="relay-request.txt"'
      return {
        ...shown(request),
        headers: { ...pageHeaders, 'content-type': 'text/plain', 'content-disposition': disposition },
      }
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error
      return overview(program, session, { kind: 'wrong', text: error.message }, 409)
    }
  },
  answer: async (program, session, form) => {
    try {
      acceptAnswer(program.database, program.key, program.relay.clock, await form.file('answer'))
      program.relay.reload()
      return overview(program, session, { kind: 'done', text: 'The answer was accepted.' })
    } catch (error) {
      if (!(error instanceof AnswerUnusable)) throw error
      return overview(program, session, { kind: 'wrong', text: error.message }, 422)
    }
  },
}

/** A form of another site is refused, although it has the password: it would sign the browser in without its person. */
function isOfOtherSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return headers.origin !== undefined && URL.parse(headers.origin)?.host !== headers.host
}

async function signIn(program: RelayProgram, request: IncomingMessage): Promise<RelayAnswer> {
  const enrollment = program.relay.enrollment()
  if (isOfOtherSite(request)) throw new Problem(403, 'forbidden', 'sign in on the page of this relay')
  const form = await formIn(request)
  const sessions = sessionsFor(program)
  const address = request.socket.remoteAddress ?? ''
  const wait = sessions.attempt(address)
  if (wait > 0) {
    const notice: Notice = { kind: 'wrong', text: `Too many attempts. Try again in ${wait} seconds.` }
    return { ...shown(signInPage(notice), 429), headers: { ...pageHeaders, 'retry-after': String(wait) } }
  }
  const { passwordFits } = await import('../../access/password.ts')
  if (!(await passwordFits(enrollment?.password ?? null, form.text('password'))))
    return shown(signInPage({ kind: 'wrong', text: 'The password is wrong.' }), 401)
  sessions.forgive(address)
  const isHttps = request.headers['x-forwarded-proto'] === 'https'
  const secure = isHttps ? '; Secure' : ''
  return toStart(`${cookieName}=${sessions.begin()}; Path=/admin; HttpOnly; SameSite=Strict${secure}`)
}

function sessionIn(program: RelayProgram, { headers }: IncomingMessage): Session | undefined {
  const cookie = headers.cookie
    ?.split(/;\s*/)
    .find((each) => each.startsWith(`${cookieName}=`))
    ?.slice(cookieName.length + 1)
  return cookie === undefined ? undefined : sessionsFor(program).find(cookie)
}

const overview = ({ relay }: RelayProgram, session: Session, notice?: Notice, status = 200): RelayAnswer =>
  shown(overviewPage(relay, relay.standing(), session, notice), status)

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const shown = (body: string, status = 200): RelayAnswer => ({ status, headers: pageHeaders, body })

const toStart = (cookie?: string): RelayAnswer => ({
  status: 303,
  headers: { ...pageHeaders, location: '/admin', ...(cookie !== undefined && { 'set-cookie': cookie }) },
})

const asset = (type: string, body: () => Buffer) => (): RelayAnswer => ({
  status: 200,
  headers: { ...pageHeaders, 'content-type': type, 'cache-control': 'max-age=3600' },
  body: body(),
})

/** The portal's style: both are pages for a vendor's customers. */
const assets: Readonly<Record<string, () => RelayAnswer>> = {
  'style.css': asset('text/css; charset=utf-8', () =>
    readFileSync(new URL('../../portal/portal.css', import.meta.url)),
  ),
  'icon.svg': asset('image/svg+xml', readIcon),
}
