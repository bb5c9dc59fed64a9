import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { KnownMember } from '../../../projections/members.ts'
import { knownDeviceMs, rememberDevice } from '../../access/known-devices.ts'
import { createDelayed } from '../../async/delayed.ts'
import { recordFailedSignIn } from '../../commands/members/sign-in-audit.ts'
import { newSecret } from '../../credentials/secret.ts'
import { sha256 } from '../../credentials/sha256.ts'
import { addressOf } from '../../http/listening.ts'
import type { Ports } from '../../ports.ts'
import { cookieNameOf, cookieOptions } from '../session/session.ts'

/** Records a failed sign-in with a member's account. */
export type RecordFailure = (
  request: FastifyRequest,
  tried: Pick<KnownMember, 'member'>,
  method: 'password' | 'passkey',
) => void

const flushAfterMs = 1000
/** A batch holds the last failure of this many members. */
const maxMembers = 1000

type Pending = {
  member: KnownMember['member']
  method: 'password' | 'passkey'
  address: string
  requestId: string
}

/**
 * Keeps failed sign-ins in memory and records them a second later, so that neither the answer nor its time reveals that
 * there is such a member. A killed process loses at most a second of them.
 */
export function failureRecorder(
  app: FastifyInstance,
  ports: Ports<'execute' | 'newId' | 'now' | 'subjects'>,
): RecordFailure {
  let pending = new Map<string, Pending>()

  async function write(): Promise<void> {
    const failures = pending
    pending = new Map()
    for (const { member, method, address, requestId } of failures.values()) {
      await recordFailedSignIn(ports, member, { method, address }, requestId).catch((err: unknown) =>
        app.log.warn({ err, request_id: requestId }, 'sign_in.failure_not_recorded'),
      )
    }
  }
  const writing = createDelayed(flushAfterMs, write)
  app.addHook('onClose', async () => {
    writing.cancel()
    await writing.now()
  })

  return (request, { member }, method) => {
    if (pending.size >= maxMembers) return
    pending.set(member.memberId, { member, method, address: addressOf(request), requestId: request.id })
    writing.ask()
  }
}

/** The message after too many attempts; also sets Retry-After. */
export function waitProblem(reply: FastifyReply, retryAfterSeconds: number): string {
  reply.header('retry-after', String(retryAfterSeconds))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  return `Too many attempts. Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} and try again.`
}

/** Recognizes browsers in which a member has signed in. This grants no access. */
export type KnownBrowsers = {
  /** The hash of the cookie that identifies the browser, if it has one. */
  hashOf(request: FastifyRequest): string | undefined
  /** Gives the browser a new cookie and stores it for the member who has just signed in. */
  remember(request: FastifyRequest, reply: FastifyReply, memberId: string): Promise<void>
}

export function knownBrowsers(ports: Ports<'db' | 'now' | 'randomBytes'>, isHttps: boolean): KnownBrowsers {
  const name = cookieNameOf('device', isHttps)
  const options = { ...cookieOptions(isHttps), signed: true, maxAge: knownDeviceMs / 1000 }
  const hashOf: KnownBrowsers['hashOf'] = (request) => {
    const { valid, value } = request.unsignCookie(request.cookies[name] ?? '')
    return valid ? sha256(value) : undefined
  }
  return {
    hashOf,
    async remember(request, reply, memberId) {
      const secret = newSecret(ports.randomBytes)
      const device = { deviceHash: sha256(secret), earlierHash: hashOf(request), memberId }
      await rememberDevice(ports.db, device, ports.now())
      reply.setCookie(name, secret, options)
    },
  }
}
