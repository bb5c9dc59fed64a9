import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { KnownMember } from '../../../projections/members.ts'
import { recordFailedSignIn } from '../../commands/members/sign-in-audit.ts'
import { addressOf } from '../../http/address.ts'
import type { Ports } from '../../ports.ts'

/** Records a failed sign-in with a member's account. */
export type RecordFailure = (
  request: FastifyRequest,
  tried: Pick<KnownMember, 'member'>,
  method: 'password' | 'passkey',
) => void

const flushEveryMs = 1000
/** A batch holds the last failure of this many members. */
const maxMembers = 1000

type Pending = {
  member: KnownMember['member']
  method: 'password' | 'passkey'
  address: string
  requestId: string
}

/**
 * Keeps failed sign-ins in memory and records them once a second, so that neither the answer nor its time reveals that
 * there is such a member. A killed process loses at most a second of them.
 */
export function failureRecorder(
  app: FastifyInstance,
  ports: Ports<'execute' | 'newId' | 'now' | 'subjects'>,
): RecordFailure {
  let pending = new Map<string, Pending>()
  let flushing = Promise.resolve()

  async function write(): Promise<void> {
    const failures = pending
    pending = new Map()
    for (const { member, method, address, requestId } of failures.values()) {
      await recordFailedSignIn(ports, member, { method, address }, requestId).catch((err: unknown) =>
        app.log.warn({ err, request_id: requestId }, 'sign_in.failure_not_recorded'),
      )
    }
  }
  const flush = () => {
    flushing = flushing.then(write)
    return flushing
  }
  const timer = setInterval(() => void flush(), flushEveryMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await flush()
  })

  return (request, { member }, method) => {
    if (pending.size >= maxMembers) return
    pending.set(member.memberId, { member, method, address: addressOf(request), requestId: request.id })
  }
}
